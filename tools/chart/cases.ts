import { manifestFiles } from "../chart.mjs";

export type Values = Readonly<Record<string, unknown>>;

const external = {
  database: { external: true },
  blobStore: { external: true },
  secrets: { existing: "shoal-secrets" },
};
const metrics = {
  enabled: true,
  serviceMonitor: { enabled: true },
  alerts: { enabled: true },
  dashboard: { enabled: true },
};
const ingress = {
  enabled: true,
  className: "nginx",
  host: "shoal.test",
  contentHost: "content.shoal.test",
  tlsSecret: "certificate",
  from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "ingress" } } }],
};

/** Values that the chart accepts. Together they turn each option on and off. */
export const accepted = {
  defaults: {},
  "one server with all options off": {
    database: { external: true },
    secrets: { values: { SHOAL_DATABASE_URL: "postgres://shoal@database/shoal", SHOAL_SECRET_KEY: "k".repeat(32) } },
    persistence: { enabled: false },
    networkPolicy: { enabled: false },
    podDisruptionBudget: { enabled: false },
    serviceAccount: { create: false, name: "existing" },
    sandbox: {
      userNamespace: false,
      appArmorProfile: "None",
      seccompProfile: { type: "Unconfined", localhostProfile: null },
    },
  },
  "the runtime's own filter of system calls": { sandbox: { seccompProfile: { type: "RuntimeDefault" } } },
  "many servers with sandboxes": {
    ...external,
    ...{ replicas: 3, metrics, ingress },
    sandbox: { seccompProfile: { install: true } },
    networkPolicy: {
      databaseTo: [{ ipBlock: { cidr: "10.1.0.0/24" } }],
      blobStoreTo: [{ ipBlock: { cidr: "10.2.0.0/24" } }],
      extraEgress: [{ to: [{ ipBlock: { cidr: "10.3.0.0/24" } }], ports: [{ port: 4318 }] }],
    },
    autoscaling: { enabled: true, minReplicas: 3, maxReplicas: 12 },
    config: { max_sessions: 20, idle_timeout_seconds: 120 },
    commonLabels: { team: "agents" },
    extraEnv: [{ name: "AWS_REGION", value: "eu-central-1" }],
    podAnnotations: { note: "1" },
    podLabels: { tier: "browsers" },
    imagePullSecrets: [{ name: "registry" }],
    image: { repository: "registry.test/shoal", digest: `sha256:${"0".repeat(64)}` },
    nodeSelector: { pool: "browsers" },
    tolerations: [{ key: "browsers", operator: "Exists", effect: "NoSchedule" }],
    affinity: { nodeAffinity: {} },
    priorityClassName: "high",
    runtimeClassName: "kata",
    topologySpreadConstraints: [],
    extraVolumes: [{ name: "ca", configMap: { name: "ca" } }],
    extraVolumeMounts: [{ name: "ca", mountPath: "/etc/ca" }],
    persistence: { storageClass: "fast", annotations: { note: "1" }, whenScaled: "Delete" },
    service: { type: "LoadBalancer", port: 80, annotations: { note: "1" } },
    serviceAccount: { annotations: { role: "arn" } },
  },
  "a pod for each session": { placement: "kubernetes" },
  "pods of sessions in another namespace, as micro virtual machines": {
    ...external,
    replicas: 2,
    placement: "kubernetes",
    kubernetes: { namespace: "sessions", image: "registry.test/shoal:1", runtimeClass: "kata" },
    networkPolicy: { kubernetesApiTo: [{ ipBlock: { cidr: "10.0.0.1/32" } }] },
  },
  "a claim for each session": manifestFiles["kubernetes-claims.yaml"],
  "claims as micro virtual machines, on separate nodes": {
    placement: "kubernetes",
    imagePullSecrets: [{ name: "registry" }],
    config: { session_memory_mb: 1024, session_disk_mb: 0 },
    kubernetes: {
      namespace: "sessions",
      runtimeClass: "kata",
      claims: {
        enabled: true,
        waitingPods: 10,
        innerSandbox: true,
        nodeSelector: { pool: "sessions" },
        tolerations: [{ key: "sessions", operator: "Exists" }],
      },
    },
  },
  "a pod for each session, with existing rights and policies": {
    placement: "kubernetes",
    rbac: { create: false },
    networkPolicy: { enabled: false },
  },
} as const satisfies Record<string, Values>;

/** Values that the schema refuses, with the place that it names. */
export const misspelled: readonly (readonly [Values, string])[] = [
  [{ replica: 3 }, "replica"],
  [{ replicas: "three" }, "/replicas"],
  [{ placement: "docker" }, "/placement"],
  [{ image: { name: "shoal" } }, "/image"],
  [{ image: { digest: "sha256:1" } }, "/image/digest"],
  [{ config: { max_session: 3 } }, "/config"],
  [{ config: { secret_key: "k".repeat(32) } }, "/config"],
  [{ secrets: { values: { SHOAL_SECRET_KEY: "short" } } }, "/secrets/values/SHOAL_SECRET_KEY"],
  [{ secrets: { values: { "shoal-key": "x" } } }, "/secrets/values"],
  [{ persistence: { size: "20 GB" } }, "/persistence/size"],
  [{ ingress: { host: "https://shoal.test" } }, "/ingress/host"],
  [{ metrics: { serviceMonitor: { interval: 15 } } }, "/metrics/serviceMonitor/interval"],
  [{ autoscaling: { targetUtilizationPercent: 0.7 } }, "/autoscaling/targetUtilizationPercent"],
  [{ kubernetes: { claims: { waitingPods: -1 } } }, "/kubernetes/claims/waitingPods"],
  [{ drain: { sessionSeconds: -1 } }, "/drain/sessionSeconds"],
  [{ networkPolicy: { privateRanges: ["10.0.0.0"] } }, "/networkPolicy/privateRanges/0"],
];

/** Combinations that templates refuse, with a part of the message. */
export const contradictory: readonly (readonly [Values, string])[] = [
  [{ replicas: 2 }, "need one PostgreSQL"],
  [{ replicas: 2, database: { external: true }, secrets: { existing: "s" } }, "must share their files"],
  [{ database: { external: true } }, "set secrets.existing"],
  [{ secrets: { existing: "s", values: { A: "b" } } }, "not both"],
  [{ persistence: { enabled: false } }, "the embedded database would be lost"],
  [{ ...external, autoscaling: { enabled: true } }, "needs metrics.enabled"],
  [{ ...external, metrics, autoscaling: { enabled: true, minReplicas: 9, maxReplicas: 3 } }, "minReplicas is larger"],
  [{ metrics: { alerts: { enabled: true } } }, "need metrics.enabled"],
  [{ ingress: { enabled: true } }, "set ingress.from"],
  [{ placement: "kubernetes", sandbox: { seccompProfile: { install: true } } }, "is for placement: sandbox"],
  [{ kubernetes: { claims: { enabled: true } } }, "is for placement: kubernetes"],
  [{ drain: { requestSeconds: 90 } }, "drain.requestSeconds"],
];
