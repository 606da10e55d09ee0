import { boxEnvironment } from "../boxes/box-environment.ts";
import { homePath } from "../boxes/instance-files.ts";
import { stateFolder } from "../image/remote-config.ts";
import { type ClusterObject, kinds } from "./objects.ts";

export const containerName = "instance";
/** The user of the sessions in containers, too. */
const podUser = 64_987;
export const instancePort = 7801;

export const labels = {
  managedBy: "app.kubernetes.io/managed-by",
  /** The NetworkPolicy of `docs/service/kubernetes.yaml` selects it. */
  part: "shoal.dev/part",
  /** A server process. Of labels that a claim adds to its pod, agent-sandbox allows this domain only. */
  server: "shoal.sandbox.users.io/server",
  instance: "shoal.sandbox.users.io/instance",
} as const;

/** Of the pod, and of its Sandbox. */
export function labelsOf(server: string, instance: string): Readonly<Record<string, string>> {
  return {
    [labels.managedBy]: "shoal",
    [labels.part]: "session",
    [labels.server]: server,
    [labels.instance]: instance,
  };
}

export interface PodOptions {
  readonly image: string;
  readonly runtimeClass: string | undefined;
  /** After the image's own `tini`. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly memoryBytes: number | undefined;
  readonly diskBytes: number | undefined;
  /** Further writable folders in memory. */
  readonly scratch?: readonly string[];
  /** Folders in memory that its limit of memory alone bounds. */
  readonly copies?: readonly string[];
}

const writable = { tmp: "/tmp", home: homePath, state: stateFolder, shm: "/dev/shm", data: "/var/lib/shoal" } as const;
/** Enough for the pod to be placed; its limit is higher. */
const requestedMemory = "256Mi";
const requestedCpu = "100m";
const graceSeconds = 5;

/** No name server, service account, capabilities, privileges or writable image. The NetworkPolicy closes the network. */
export function podSpec(options: PodOptions): object {
  const { command, copies = [], diskBytes, env, image, memoryBytes, runtimeClass, scratch = [] } = options;
  const sizeLimit = diskBytes === undefined ? undefined : String(diskBytes);
  const folders = [
    ...Object.entries(writable).map(([name, mountPath]) => ({ name, mountPath, sizeLimit })),
    ...scratch.map((mountPath, index) => ({ name: `scratch-${String(index)}`, mountPath, sizeLimit })),
    ...copies.map((mountPath, index) => ({ name: `copies-${String(index)}`, mountPath, sizeLimit: undefined })),
  ];
  return {
    ...(runtimeClass !== undefined && { runtimeClassName: runtimeClass }),
    restartPolicy: "Never",
    terminationGracePeriodSeconds: graceSeconds,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    hostname: "shoal",
    // Names are resolved by the egress gateway.
    dnsPolicy: "None",
    dnsConfig: { nameservers: ["127.0.0.1"] },
    securityContext: {
      runAsNonRoot: true,
      runAsUser: podUser,
      runAsGroup: podUser,
      fsGroup: podUser,
      seccompProfile: { type: "RuntimeDefault" },
    },
    containers: [
      {
        name: containerName,
        image,
        command: [
          "/usr/bin/tini",
          "--",
          "/bin/sh",
          "-c",
          `ulimit -c 0 && mkdir -p ${homePath}/Downloads && exec "$@"`,
          "shoal",
          ...command,
        ],
        workingDir: homePath,
        env: [
          ...Object.entries({ ...boxEnvironment, ...env }).map(([name, value]) => ({ name, value })),
          { name: "SHOAL_ADDRESS", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
        ],
        ports: [{ containerPort: instancePort, protocol: "TCP" }],
        resources: {
          requests: { cpu: requestedCpu, memory: requestedMemory },
          ...(memoryBytes !== undefined && { limits: { memory: String(memoryBytes) } }),
        },
        // A limit can change without a restart.
        resizePolicy: [{ resourceName: "memory", restartPolicy: "NotRequired" }],
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
        volumeMounts: folders.map(({ mountPath, name }) => ({ name, mountPath })),
      },
    ],
    volumes: folders.map(({ name, sizeLimit: limit }) => ({
      name,
      emptyDir: { medium: "Memory", ...(limit !== undefined && { sizeLimit: limit }) },
    })),
  };
}

export interface ObjectOptions {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: object;
  /** Absent for a plain pod. */
  readonly shutdownTime: Date | undefined;
}

/** A Sandbox of agent-sandbox, or a plain pod. */
export function sessionObject({ name, namespace, labels: own, shutdownTime, spec }: ObjectOptions): ClusterObject {
  const metadata = { name, namespace, labels: own };
  if (shutdownTime === undefined) return { ...kinds.pods, metadata, spec };
  return {
    ...kinds.sandboxes,
    metadata,
    spec: {
      podTemplate: { metadata: { labels: own }, spec },
      shutdownTime: shutdownTime.toISOString(),
      shutdownPolicy: "Delete",
    },
  };
}
