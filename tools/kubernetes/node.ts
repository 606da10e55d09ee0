import { images, importImages } from "./image.ts";
import { binFolder, folder } from "./programs.ts";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const address = "10.250.0.2";
/** For sites of tests: the egress gateway refuses private addresses. */
const publicAddress = "93.184.215.14";
const services = "10.96.0.0/16";
const nameServer = "10.96.0.10";
const pods = "10.244.0.0/16";
const nodeName = "node";
const volumes = 8;

/** Folders that only a node needs. */
export const mountPoints = ["/var/lib/cni", "/var/lib/kubelet"] as const;

function run(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/**
 * One node with its control plane. All processes of {@link ClusterNode.start} need separate namespaces for mounts, the
 * network and processes, and end with them. Images stay from run to run, all other state is new.
 */
export class ClusterNode {
  readonly state = mkdtempSync(join(tmpdir(), "shoal-kubernetes-"));
  readonly kubeconfig = this.#at("admin.conf");
  readonly #programs = new Map<string, ChildProcess>();

  async start(): Promise<void> {
    isolate();
    makeCertificates(this.#at("pki"));
    for (const name of ["admin", "controllers", "scheduler", "kubelet", "proxy"]) this.#writeKubeconfig(name);
    this.#run("etcd", [
      `--data-dir=${this.#at("etcd")}`,
      ...["--listen-client-urls=http://127.0.0.1:2379", "--advertise-client-urls=http://127.0.0.1:2379"],
      ...["--listen-peer-urls=http://127.0.0.1:2380", "--unsafe-no-fsync"],
    ]);
    this.#startContainerd();
    this.#startControlPlane();
    await this.#until("the API server", () => this.kubectl("get", "--raw=/readyz"));
    this.#startControllers();
    await this.#importImages();
    this.#startNode();
    await this.#until("the node", () =>
      this.kubectl("wait", "--for=condition=Ready", `node/${nodeName}`, "--timeout=5s"),
    );
    this.#startPolicies();
    this.#addStorage();
    this.#addNameServer();
    await this.#until("the name server", () =>
      this.kubectl("rollout", "status", "--namespace=kube-system", "daemonset/dns", "--timeout=5s"),
    );
  }

  kubectl(...args: readonly string[]): string {
    return run("kubectl", `--kubeconfig=${this.kubeconfig}`, ...args);
  }

  /** The last lines of a program that has ended. */
  crash(): string | undefined {
    for (const [name, { exitCode, signalCode }] of this.#programs)
      if (exitCode !== null || signalCode !== null) return `${name} has ended:\n${this.#lastLines(name)}`;
    return undefined;
  }

  /** Ends what the namespaces do not end: containerd closes its files, and control groups of the pods remain otherwise. */
  async stop(): Promise<void> {
    for (const name of ["kubelet", "kube-controller-manager"]) this.#programs.get(name)?.kill("SIGKILL");
    // Ignores errors: some of them end meanwhile.
    const ctr = (...args: readonly string[]): string =>
      spawnSync("ctr", ["-a", this.#at("containerd.sock"), "-n", "k8s.io", ...args], { encoding: "utf8" }).stdout;
    for (const name of ctr("tasks", "ls", "-q").split("\n").filter(Boolean)) ctr("tasks", "rm", "-f", name);
    for (const name of ctr("containers", "ls", "-q").split("\n").filter(Boolean)) ctr("containers", "rm", name);
    const containerd = this.#programs.get("containerd");
    if (containerd?.exitCode === null && containerd.signalCode === null) {
      const ended = new Promise((resolve) => containerd.once("exit", resolve));
      containerd.kill("SIGTERM");
      await ended;
    }
  }

  #at(name: string): string {
    return join(this.state, name);
  }

  #run(name: string, args: readonly string[]): void {
    // In its own group: a Ctrl-C is for the command.
    const child = spawn(name, args, { cwd: this.state, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const log = createWriteStream(this.#at(`${name}.log`));
    for (const stream of [child.stdout, child.stderr]) stream.pipe(log, { end: false });
    writeFileSync(this.#at(`${name}.pid`), String(child.pid));
    this.#programs.set(name, child);
  }

  #lastLines(name: string): string {
    return readFileSync(this.#at(`${name}.log`), "utf8")
      .split("\n")
      .slice(-40)
      .join("\n");
  }

  async #until(what: string, attempt: () => void): Promise<void> {
    const tries = 300;
    for (let count = 0; count < tries; count += 1) {
      const crash = this.crash();
      if (crash !== undefined) throw new Error(crash);
      try {
        attempt();
        return;
      } catch (error) {
        if (count === tries - 1) throw new Error(`No answer of ${what}: ${String(error)}`, { cause: error });
      }
      await sleep(1_000);
    }
  }

  #writeKubeconfig(name: string): void {
    const config = {
      ...{ apiVersion: "v1", kind: "Config", "current-context": "node" },
      clusters: [
        {
          name: "node",
          cluster: { server: `https://${address}:6443`, "certificate-authority": this.#at("pki/ca.crt") },
        },
      ],
      users: [
        {
          name,
          user: { "client-certificate": this.#at(`pki/${name}.crt`), "client-key": this.#at(`pki/${name}.key`) },
        },
      ],
      contexts: [{ name: "node", context: { cluster: "node", user: name, namespace: "default" } }],
    };
    writeFileSync(this.#at(`${name}.conf`), JSON.stringify(config), { mode: 0o600 });
  }

  #startContainerd(): void {
    const cri = 'plugins."io.containerd.cri.v1.runtime"';
    writeFileSync(
      this.#at("containerd.toml"),
      `version = 3
root = "${join(folder, "containerd")}"
state = "/run/containerd"
[grpc]
  address = "${this.#at("containerd.sock")}"
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "overlayfs"
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "${images.pause}"
[${cri}]
  disable_apparmor = true
  restrict_oom_score_adj = true
[${cri}.cni]
  bin_dirs = ["/usr/lib/cni"]
  conf_dir = "${this.#at("cni")}"
[${cri}.containerd]
  default_runtime_name = "runc"
[${cri}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[${cri}.containerd.runtimes.runc.options]
  BinaryName = "${join(binFolder, "runc")}"
`,
    );
    mkdirSync(this.#at("cni"));
    const plugins = [
      {
        ...{ type: "ptp", ipMasq: false },
        ipam: {
          ...{ type: "host-local", dataDir: this.#at("cni-addresses"), routes: [{ dst: "0.0.0.0/0" }] },
          ranges: [[{ subnet: pods.replace("/16", "/24") }]],
        },
      },
      { type: "portmap", capabilities: { portMappings: true } },
    ];
    writeFileSync(this.#at("cni/10-pods.conflist"), JSON.stringify({ cniVersion: "1.0.0", name: "pods", plugins }));
    this.#run("containerd", ["--config", this.#at("containerd.toml")]);
  }

  #startControlPlane(): void {
    const key = (name: string): string => this.#at(`pki/${name}`);
    this.#run("kube-apiserver", [
      ...["--etcd-servers=http://127.0.0.1:2379", `--advertise-address=${address}`, `--bind-address=${address}`],
      ...[`--client-ca-file=${key("ca.crt")}`, `--tls-cert-file=${key("server.crt")}`],
      ...[`--tls-private-key-file=${key("server.key")}`, `--service-account-key-file=${key("accounts.pub")}`],
      `--service-account-signing-key-file=${key("accounts.key")}`,
      "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
      ...[`--kubelet-client-certificate=${key("admin.crt")}`, `--kubelet-client-key=${key("admin.key")}`],
      ...[`--kubelet-certificate-authority=${key("ca.crt")}`, "--kubelet-preferred-address-types=InternalIP"],
      ...["--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction"],
      ...[`--service-cluster-ip-range=${services}`, "--allow-privileged=true"],
    ]);
  }

  #startControllers(): void {
    const as = (name: string): readonly string[] =>
      ["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"].map(
        (option) => `--${option}=${this.#at(`${name}.conf`)}`,
      );
    this.#run("kube-controller-manager", [
      ...as("controllers"),
      ...["--leader-elect=false", "--use-service-account-credentials=true", "--allocate-node-cidrs"],
      ...[
        `--root-ca-file=${this.#at("pki/ca.crt")}`,
        `--service-account-private-key-file=${this.#at("pki/accounts.key")}`,
      ],
      ...[`--cluster-cidr=${pods}`, `--service-cluster-ip-range=${services}`],
    ]);
    this.#run("kube-scheduler", [...as("scheduler"), "--leader-elect=false"]);
  }

  async #importImages(): Promise<void> {
    const ctr = ["-a", this.#at("containerd.sock"), "-n", "k8s.io", "images"];
    await this.#until("containerd", () => run("ctr", ...ctr, "ls"));
    importImages((archive) => run("ctr", ...ctr, "import", archive));
    // Names by digest keep the images of earlier trees, each with 0.6 GB.
    const rows = run("ctr", ...ctr, "ls")
      .trim()
      .split("\n")
      .slice(1);
    const stored = rows.map((row) => row.split(/\s+/));
    const names = new Set<string | undefined>(Object.values(images));
    const current = new Set(stored.filter(([name]) => names.has(name)).map(([, , digest]) => digest));
    for (const [name = "", , digest] of stored) if (!current.has(digest)) run("ctr", ...ctr, "rm", name);
  }

  #startNode(): void {
    writeFileSync(this.#at("resolv.conf"), "");
    const config = {
      ...{ apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" },
      ...{ cgroupDriver: "cgroupfs", failCgroupV1: false, failSwapOn: false, serializeImagePulls: false },
      containerRuntimeEndpoint: `unix://${this.#at("containerd.sock")}`,
      authentication: {
        ...{ anonymous: { enabled: false }, webhook: { enabled: true } },
        x509: { clientCAFile: this.#at("pki/ca.crt") },
      },
      authorization: { mode: "Webhook" },
      ...{ tlsCertFile: this.#at("pki/kubelet.crt"), tlsPrivateKeyFile: this.#at("pki/kubelet.key") },
      ...{ clusterDNS: [nameServer], clusterDomain: "cluster.local", resolvConf: this.#at("resolv.conf") },
      evictionHard: { "memory.available": "200Mi", "nodefs.available": "1%", "imagefs.available": "1%" },
      ...{ enforceNodeAllocatable: ["pods"], maxPods: 60, nodeStatusUpdateFrequency: "5s" },
    };
    writeFileSync(this.#at("kubelet.json"), JSON.stringify(config));
    this.#run("kubelet", [
      ...[`--config=${this.#at("kubelet.json")}`, `--kubeconfig=${this.#at("kubelet.conf")}`],
      ...[`--hostname-override=${nodeName}`, `--node-ip=${address}`],
    ]);
    this.#run("kube-proxy", [
      ...[`--kubeconfig=${this.#at("proxy.conf")}`, "--proxy-mode=iptables", `--cluster-cidr=${pods}`],
      `--hostname-override=${nodeName}`,
      ...["conntrack-max-per-core", "conntrack-tcp-timeout-established", "conntrack-tcp-timeout-close-wait"].map(
        (option) => `--${option}=0`,
      ),
    ]);
  }

  /** Needs the object of the node. */
  #startPolicies(): void {
    this.#run("kube-router", [
      ...["--run-firewall=true", "--run-router=false", "--run-service-proxy=false", "--enable-cni=false"],
      ...[
        `--kubeconfig=${this.kubeconfig}`,
        `--hostname-override=${nodeName}`,
        `--service-cluster-ip-range=${services}`,
      ],
      ...["--metrics-port=0", "--iptables-sync-period=20s"],
    ]);
  }

  #addStorage(): void {
    const storageClass = {
      ...{ apiVersion: "storage.k8s.io/v1", kind: "StorageClass" },
      metadata: { name: "local", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
      ...{ provisioner: "kubernetes.io/no-provisioner", volumeBindingMode: "WaitForFirstConsumer" },
    };
    const hostname = { key: "kubernetes.io/hostname", operator: "In", values: [nodeName] };
    const made = Array.from({ length: volumes }, (_, index) => {
      const path = this.#at(`volumes/${String(index)}`);
      mkdirSync(path, { recursive: true });
      return {
        ...{ apiVersion: "v1", kind: "PersistentVolume", metadata: { name: `volume-${String(index)}` } },
        spec: {
          ...{ capacity: { storage: "20Gi" }, accessModes: ["ReadWriteOnce"], storageClassName: "local" },
          ...{ local: { path }, nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [hostname] }] } } },
        },
      };
    });
    this.#apply([storageClass, ...made]);
  }

  #addNameServer(): void {
    const names = { name: "dns", namespace: "kube-system" };
    const labels = { "k8s-app": "kube-dns" };
    const role = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "dns" };
    const source = readFileSync(join(import.meta.dirname, "name-server.ts"), "utf8");
    const port = { name: "dns", port: 53, targetPort: 5353, protocol: "UDP" };
    const authority = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";
    this.#apply([
      { apiVersion: "v1", kind: "ServiceAccount", metadata: names },
      {
        ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "dns" } },
        rules: [{ apiGroups: [""], resources: ["services"], verbs: ["list"] }],
      },
      {
        ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding", metadata: { name: "dns" } },
        ...{ roleRef: role, subjects: [{ kind: "ServiceAccount", ...names }] },
      },
      {
        ...{ apiVersion: "v1", kind: "Service", metadata: { ...names, name: "kube-dns" } },
        spec: { clusterIP: nameServer, selector: labels, ports: [port] },
      },
      { apiVersion: "v1", kind: "ConfigMap", metadata: names, data: { "name-server.ts": source } },
      // A drain of the node deletes other pods.
      {
        ...{ apiVersion: "apps/v1", kind: "DaemonSet", metadata: names },
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: {
              serviceAccountName: "dns",
              volumes: [{ name: "source", configMap: { name: "dns" } }],
              containers: [
                {
                  ...{ name: "dns", image: images.shoal, command: ["node", "/source/name-server.ts"] },
                  env: [{ name: "NODE_EXTRA_CA_CERTS", value: authority }],
                  volumeMounts: [{ name: "source", mountPath: "/source" }],
                  readinessProbe: { exec: { command: ["true"] } },
                },
              ],
            },
          },
        },
      },
    ]);
  }

  #apply(objects: readonly object[]): void {
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
    execFileSync("kubectl", [`--kubeconfig=${this.kubeconfig}`, "apply", "--filename=-"], {
      input,
      stdio: ["pipe", "ignore", "pipe"],
    });
  }
}

/** Prepares the namespaces: folders that programs of the node write to, and a network with one interface. */
function isolate(): void {
  run("mount", "--make-rshared", "/");
  for (const path of ["/run", "/var/log", ...mountPoints]) {
    mkdirSync(path, { recursive: true });
    run("mount", "-t", "tmpfs", "tmpfs", path);
  }
  mkdirSync("/run/netns");
  run("ip", "link", "set", "lo", "up");
  run("ip", "link", "add", "eth0", "type", "veth", "peer", "name", "eth0-peer");
  run("ip", "link", "set", "eth0-peer", "up");
  run("ip", "addr", "add", `${address}/24`, "dev", "eth0");
  run("ip", "addr", "add", `${publicAddress}/32`, "dev", "eth0");
  run("ip", "link", "set", "eth0", "up");
  run("ip", "route", "add", "default", "via", "10.250.0.1", "dev", "eth0");
  writeFileSync("/proc/sys/net/ipv4/ip_forward", "1");
}

function makeCertificates(place: string): void {
  mkdirSync(place);
  const openssl = (...args: readonly string[]): void => {
    const { status, stderr } = spawnSync("openssl", args, { cwd: place, encoding: "utf8" });
    if (status !== 0) throw new Error(`openssl ${args.join(" ")}: ${stderr}`);
  };
  const newKey = ["-newkey", "rsa:2048", "-nodes"];
  openssl("req", "-x509", ...newKey, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=kubernetes", "-days", "365");
  openssl("genrsa", "-out", "accounts.key", "2048");
  openssl("rsa", "-in", "accounts.key", "-pubout", "-out", "accounts.pub");
  const names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"];
  const issued: readonly (readonly [string, string, string?])[] = [
    [
      "server",
      "/CN=kube-apiserver",
      `IP:${address},IP:127.0.0.1,IP:10.96.0.1,${names.map((name) => `DNS:${name}`).join(",")}`,
    ],
    ["admin", "/O=system:masters/CN=admin"],
    ["controllers", "/CN=system:kube-controller-manager"],
    ["scheduler", "/CN=system:kube-scheduler"],
    ["kubelet", `/O=system:nodes/CN=system:node:${nodeName}`, `IP:${address},DNS:${nodeName}`],
    ["proxy", "/CN=system:kube-proxy"],
  ];
  for (const [name, subject, alternatives] of issued) {
    const extensions = [
      "extendedKeyUsage=clientAuth,serverAuth",
      ...(alternatives ? [`subjectAltName=${alternatives}`] : []),
    ];
    writeFileSync(join(place, `${name}.ext`), extensions.join("\n"));
    openssl("req", ...newKey, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", subject);
    openssl(
      ...["x509", "-req", "-in", `${name}.csr`, "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"],
      ...["-out", `${name}.crt`, "-days", "365", "-extfile", `${name}.ext`],
    );
  }
}
