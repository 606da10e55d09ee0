import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export const versions = {
  kubernetes: "1.34.4",
  containerd: "2.2.9",
  runc: "1.3.4",
  kubeRouter: "2.1.0",
  helm: "3.22.0",
  agentSandbox: "0.5.6",
} as const;

/** Programs, the image of the service, and what containerd stores. */
export const folder = process.env.SHOAL_KUBERNETES ?? join(homedir(), ".cache/shoal/kubernetes");
export const binFolder = join(folder, "bin");

const built = [
  ...["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet", "kubectl"],
  ...["containerd", "containerd-shim-runc-v2", "ctr", "runc", "kube-router", "helm", "agent-sandbox-controller"],
];
const installed = ["/usr/bin/etcd", "/usr/sbin/iptables", "/usr/sbin/ipset", "/usr/sbin/conntrack", "/usr/lib/cni/ptp"];

/** Why neither the programs nor a node can run here. */
export function obstacle(): string | undefined {
  if (process.getuid?.() !== 0) return "it needs root";
  return existsSync("/etc/debian_version") ? undefined : "it needs Debian";
}

export function missingPrograms(): readonly string[] {
  const paths = [...built.map((name) => join(binFolder, name)), join(folder, "agent-sandbox"), ...installed];
  return paths.filter((path) => !existsSync(path));
}

/**
 * Builds the missing programs. The modules of Kubernetes are published without vendored packages; their staging folders are
 * modules of the same release.
 */
const recipe = `
set -eu
export DEBIAN_FRONTEND=noninteractive GOFLAGS="-mod=mod -buildvcs=false" CGO_ENABLED=0 GOBIN="$PWD/bin" PATH="/usr/local/go/bin:$PATH"
apt-get install -y -qq --no-install-recommends containernetworking-plugins conntrack debootstrap etcd-server gcc ipset \\
  iptables libc6-dev libseccomp-dev pkg-config >/dev/null
mkdir -p bin source
fetch() {
  rm -rf "source/$2"
  cp -r "$(cd source && GOFLAGS= go mod download -json "$1" | sed -n 's/.*"Dir": "\\(.*\\)",/\\1/p')" "source/$2"
  chmod -R u+w "source/$2"
}
lacks() {
  for program; do [ -e "bin/$program" ] || return 0; done
  return 1
}
if lacks kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kubectl; then
  fetch k8s.io/kubernetes@v$KUBERNETES kubernetes
  cd source/kubernetes
  rm -rf go.work go.work.sum vendor staging
  sed -i -E "s#(k8s\\.io/[a-z-]+) => \\./staging/src/k8s\\.io/[a-z-]+#\\1 => \\1 v0\${KUBERNETES#1}#" go.mod
  # Helm refuses the chart for an API server without a version.
  major=\${KUBERNETES%%.*} rest=\${KUBERNETES#*.}
  set -- -X k8s.io/component-base/version.gitVersion=v$KUBERNETES -X k8s.io/client-go/pkg/version.gitVersion=v$KUBERNETES \\
    -X k8s.io/component-base/version.gitMajor=$major -X k8s.io/component-base/version.gitMinor=\${rest%%.*}
  go build -ldflags "-s -w $*" -o "$GOBIN/" ./cmd/kube-apiserver ./cmd/kube-controller-manager ./cmd/kube-scheduler \\
    ./cmd/kube-proxy ./cmd/kubelet ./cmd/kubectl
  cd ../..
fi
# The versions of Debian cannot run pods in a user namespace, which is the default of the chart.
if lacks containerd containerd-shim-runc-v2 ctr; then
  fetch github.com/containerd/containerd/v2@v$CONTAINERD containerd
  (cd source/containerd && go build -tags "no_btrfs no_devmapper no_zfs" -o "$GOBIN/" ./cmd/containerd ./cmd/containerd-shim-runc-v2 ./cmd/ctr)
fi
if lacks runc; then
  fetch github.com/opencontainers/runc@v$RUNC runc
  (cd source/runc && CGO_ENABLED=1 go build -tags seccomp -ldflags "-X main.version=$RUNC" -o "$GOBIN/runc" .)
fi
lacks helm && (cd source && go install helm.sh/helm/v3/cmd/helm@v$HELM)
# Only its part for NetworkPolicies runs.
lacks kube-router && (cd source && go install github.com/cloudnativelabs/kube-router/v2/cmd/kube-router@v$KUBE_ROUTER)
if lacks agent-sandbox-controller ../agent-sandbox; then
  fetch sigs.k8s.io/agent-sandbox@v$AGENT_SANDBOX agent-sandbox
  (cd source/agent-sandbox && go build -o "$GOBIN/" ./cmd/agent-sandbox-controller)
  rm -rf agent-sandbox && mv source/agent-sandbox/k8s agent-sandbox
fi
rm -rf source
`;

/** @throws with the output on stderr if a step fails. */
export function buildPrograms(): void {
  mkdirSync(folder, { recursive: true });
  const env = {
    ...process.env,
    KUBERNETES: versions.kubernetes,
    CONTAINERD: versions.containerd,
    RUNC: versions.runc,
    KUBE_ROUTER: versions.kubeRouter,
    HELM: versions.helm,
    AGENT_SANDBOX: versions.agentSandbox,
  };
  const { status } = spawnSync("sh", ["-c", recipe], { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) throw new Error("The build of the programs failed.");
}
