// Runs a command next to a real Kubernetes API server, with KUBECONFIG: npm run kubernetes -- COMMAND…
// The first run builds Kubernetes 1.20 from Debian's source, which takes 5 to 10 minutes, needs root, and installs Debian's
// packages for the build, for etcd, and for the Helm chart. SHOAL_KUBERNETES is its folder, by default ~/.cache/shoal/kubernetes.
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { clearTimeout, setTimeout } from "node:timers";
import { setTimeout as sleep } from "node:timers/promises";

const folder = process.env.SHOAL_KUBERNETES ?? join(homedir(), ".cache/shoal/kubernetes");
const bin = (name) => join(folder, "bin", name);
const programs = ["kube-apiserver", "kube-controller-manager", "kubectl"];
const command = process.argv.slice(2);

function fail(message) {
  console.error(message);
  process.exit(1);
}

/** The source has no generated OpenAPI documents, so they are generated before the build. */
const recipe = `
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get install -y -qq --no-install-recommends golang-go golang-github-modern-go-reflect2-dev \\
  golang-github-masterminds-sprig-dev golang-k8s-sigs-yaml-dev dpkg-dev etcd-server >/dev/null
mkdir -p lists/partial go/src/k8s.io bin
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main" >sources.list
options="-o Dir::Etc::sourcelist=$PWD/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$PWD/lists"
apt-get $options update -qq
apt-get $options source --download-only -qq kubernetes
rm -rf go/src/k8s.io/kubernetes
dpkg-source --no-check -x kubernetes_*.dsc go/src/k8s.io/kubernetes
export GOPATH=$PWD/go GO111MODULE=off CGO_ENABLED=0
bin=$PWD/bin
cd go/src/k8s.io/kubernetes
# With reflect2 1.0.1 of the source and Go 1.19, objects of custom resources end the API server.
rm -r vendor/github.com/modern-go/reflect2
cp -rL /usr/share/gocode/src/github.com/modern-go/reflect2 vendor/github.com/modern-go/
go build -o "$bin/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
generate() {
  "$bin/openapi-gen" --logtostderr -h hack/boilerplate/boilerplate.generatego.txt -O zz_generated.openapi -r /dev/null -i "$1" -p "k8s.io/kubernetes/$2"
}
in_vendor() { for name; do printf ',k8s.io/kubernetes/vendor/k8s.io/%s' "$name"; done; }
marked=$(grep -rl '+k8s:openapi-gen=true' --include='*.go' vendor/k8s.io pkg staging/src/k8s.io | grep -v '_examples\\|sample-apiserver\\|zz_gen\\|/test/' |
  xargs -n1 dirname | sed 's#^staging/src/#vendor/#; s#^#k8s.io/kubernetes/#' | sort -u | paste -sd,)
base=$(in_vendor apimachinery/pkg/apis/meta/v1 apimachinery/pkg/runtime apimachinery/pkg/version apimachinery/pkg/api/resource apimachinery/pkg/util/intstr)
registration=kube-aggregator/pkg/apis/apiregistration
extensions=apiextensions-apiserver/pkg/apis/apiextensions
generate "$marked" pkg/generated/openapi
generate "\${base#,}$(in_vendor api/core/v1 $registration/v1 $registration/v1beta1)" vendor/k8s.io/kube-aggregator/pkg/generated/openapi
generate "\${base#,}$(in_vendor api/autoscaling/v1 $extensions/v1 $extensions/v1beta1)" vendor/k8s.io/apiextensions-apiserver/pkg/generated/openapi
go build -o "$bin/" ./cmd/kube-apiserver ./cmd/kube-controller-manager ./cmd/kubectl
cd "$bin/.." && rm -rf go lists kubernetes_* sources.list
`;

function build() {
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version"))
    fail("The build of the Kubernetes API server needs Debian and root.");
  console.log(`Building the Kubernetes API server in ${folder}: 5 to 10 minutes.`);
  mkdirSync(folder, { recursive: true });
  const { status } = spawnSync("sh", ["-c", recipe], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) fail("The build failed.");
}

/** Free at this moment. */
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

class Cluster {
  #children = [];
  #folder = mkdtempSync(join(tmpdir(), "shoal-kubernetes-"));
  #output = [];
  kubeconfig = join(this.#folder, "kubeconfig");

  async start() {
    const [port, storage, peers] = [await freePort(), await freePort(), await freePort()];
    const token = randomBytes(16).toString("hex");
    const here = (name) => join(this.#folder, name);
    writeFileSync(here("tokens"), `${token},admin,admin,system:masters\n`, { mode: 0o600 });
    this.#run("openssl", ["genrsa", "-out", here("accounts.key"), "2048"], true);
    this.#run("etcd", [
      `--data-dir=${here("etcd")}`,
      `--listen-client-urls=http://127.0.0.1:${storage}`,
      `--advertise-client-urls=http://127.0.0.1:${storage}`,
      `--listen-peer-urls=http://127.0.0.1:${peers}`,
      "--unsafe-no-fsync",
    ]);
    this.#run(bin("kube-apiserver"), [
      `--etcd-servers=http://127.0.0.1:${storage}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      `--secure-port=${port}`,
      `--cert-dir=${here("certificates")}`,
      `--token-auth-file=${here("tokens")}`,
      "--authorization-mode=RBAC",
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${here("accounts.key")}`,
      `--service-account-signing-key-file=${here("accounts.key")}`,
      "--service-cluster-ip-range=10.0.0.0/24",
      "--allow-privileged=true",
    ]);
    this.#write(port, token);
    await this.#ready();
    this.#run(bin("kube-controller-manager"), [
      `--kubeconfig=${this.kubeconfig}`,
      `--service-account-private-key-file=${here("accounts.key")}`,
      "--use-service-account-credentials=false",
      "--port=0",
      "--secure-port=0",
    ]);
    // Pods need the account of their namespace.
    await this.#until("the service account", ["get", "serviceaccount", "default", "--namespace=default"]);
  }

  /** The last lines, if a program of the cluster has ended. */
  crash() {
    const isOver = this.#children.some(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null);
    return isOver ? this.#output.join("") : undefined;
  }

  async stop() {
    for (const child of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await ended;
      clearTimeout(timer);
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #run(program, args, isShort = false) {
    if (isShort) {
      const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
      if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
      return;
    }
    const child = spawn(program, args, { cwd: this.#folder, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => {
        this.#output.push(text);
        if (this.#output.length > 5_000) this.#output.shift();
      });
    child.once("error", (error) => this.#output.push(String(error)));
    this.#children.push(child);
  }

  #write(port, token) {
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        {
          name: "test",
          // The server writes it at its start.
          cluster: { server: `https://127.0.0.1:${port}`, "certificate-authority": "certificates/apiserver.crt" },
        },
      ],
      users: [{ name: "admin", user: { token } }],
      contexts: [{ name: "test", context: { cluster: "test", user: "admin", namespace: "default" } }],
      "current-context": "test",
    };
    writeFileSync(this.kubeconfig, JSON.stringify(config), { mode: 0o600 });
  }

  #ready() {
    return this.#until("the API server", ["get", "--raw=/readyz"]);
  }

  async #until(what, args) {
    for (let attempt = 0; attempt < 300; attempt += 1) {
      if (this.#children.some(({ exitCode }) => exitCode !== null)) break;
      if (spawnSync(bin("kubectl"), [`--kubeconfig=${this.kubeconfig}`, ...args]).status === 0) return;
      await sleep(200);
    }
    throw new Error(`No answer of ${what}:\n${this.#output.join("")}`);
  }
}

if (command.length === 0) fail("Name a command: npm run kubernetes -- COMMAND…");
if (!programs.every((name) => existsSync(bin(name)))) build();
const cluster = new Cluster();
let status;
try {
  await cluster.start();
  const child = spawn(command[0], command.slice(1), {
    stdio: "inherit",
    env: { ...process.env, KUBECONFIG: cluster.kubeconfig, PATH: `${join(folder, "bin")}:${process.env.PATH}` },
  });
  // Ctrl-C reaches the command, too; it ends first.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  status = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
  const crash = cluster.crash();
  if (crash !== undefined) throw new Error(`A program of the cluster ended:\n${crash}`);
} catch (error) {
  status = 1;
  console.error(error.message);
} finally {
  await cluster.stop();
}
process.exit(status);
