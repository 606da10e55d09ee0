import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

interface Container {
  readonly command: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[];
  readonly ports?: readonly { readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly mountPath: string; readonly name: string }[];
}

interface Volume {
  readonly name: string;
  readonly downwardAPI?: {
    readonly items: readonly { readonly path: string; readonly fieldRef: { readonly fieldPath: string } }[];
  };
}

export interface FakePodSpec {
  readonly containers: readonly [Container];
  readonly volumes?: readonly Volume[];
  readonly securityContext?: { readonly runAsUser?: number };
}

export interface RunningPod {
  readonly output: () => string;
  readonly onOutput: (listener: (text: string) => void) => void;
  readonly ended: Promise<number>;
  /** As a kubelet: SIGTERM to the program of the container. */
  readonly terminate: () => void;
  readonly kill: () => void;
  /** Changes the files that show them. */
  readonly annotate: (annotations: Readonly<Record<string, string>>) => void;
}

/**
 * Runs the container of a pod as a local process: in bubblewrap with the pod's mounts, user and environment, and with
 * the network of this machine, where the pod has its own loopback address. Programs of apps listen on fixed ports, so
 * their pods have separate networks, of which the node forwards one port each. The image is this machine's `/usr`.
 * @param isClosed - runs it without a network.
 */
export function runPod(
  spec: FakePodSpec,
  {
    address,
    apiServer,
    isClosed,
    programPath,
  }: {
    readonly address: string;
    readonly apiServer: string | undefined;
    readonly isClosed: boolean;
    readonly programPath: string;
  },
): RunningPod {
  const container = spec.containers[0];
  const shown = (spec.volumes ?? []).flatMap(({ downwardAPI, name }) =>
    downwardAPI === undefined ? [] : [{ name, items: downwardAPI.items, folder: makeFolder() }],
  );
  const user = String(spec.securityContext?.runAsUser ?? 1000);
  const node = dirname(process.execPath);
  const binds = (...paths: string[]): string[] => paths.flatMap((path) => ["--ro-bind-try", path, path]);
  const links = ["bin", "lib", "lib64", "sbin"].flatMap((name) => ["--symlink", `usr/${name}`, `/${name}`]);
  const env = (container.env ?? []).flatMap(({ name, value, valueFrom }) => [
    "--setenv",
    name,
    // The only reference that the service uses is `status.podIP`.
    valueFrom === undefined ? (value ?? "") : address,
  ]);
  const [apiHost = "", apiPort = ""] = apiServer?.split(":") ?? [];
  if (apiServer !== undefined)
    env.push("--setenv", "KUBERNETES_SERVICE_HOST", apiHost, "--setenv", "KUBERNETES_SERVICE_PORT", apiPort);
  const [init, separator, ...command] = container.command;
  if (init !== "/usr/bin/tini" || separator !== "--") throw new Error("The image starts programs with tini.");
  const network = container.env?.some(({ name }) => name === "SHOAL_PROGRAM") === true ? new FakeNetwork() : undefined;
  const port = container.ports?.[0]?.containerPort ?? 0;
  network?.listen(address, port);
  const child: ChildProcess = spawn(
    "bwrap",
    [
      ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--clearenv"],
      ...(isClosed || network !== undefined ? ["--unshare-net"] : []),
      ...["--uid", user, "--gid", user, ...binds("/usr", "/etc"), ...links],
      ...["--proc", "/proc", "--dev", "/dev"],
      // Not at its own path, which may be below a folder that the pod replaces, such as /tmp.
      ...["--ro-bind", node, "/opt/node"],
      ...["--ro-bind", dirname(programPath), "/opt/shoal/instance"],
      ...(container.volumeMounts ?? []).flatMap(({ mountPath, name }) => {
        const folder = shown.find((volume) => volume.name === name)?.folder;
        return folder === undefined ? ["--tmpfs", mountPath] : ["--ro-bind", folder, mountPath];
      }),
      ...(network === undefined ? [] : ["--bind", network.folder, "/network", ...binds(import.meta.dirname)]),
      ...env,
      ...["--setenv", "PATH", "/opt/node:/usr/local/bin:/usr/bin:/bin", "--"],
      ...(network === undefined ? [] : ["node", networkProgram, "/network/socket", address, String(port)]),
      ...command,
    ],
    { detached: true, stdio: ["ignore", "pipe", "pipe"] },
  );
  let output = "";
  const listeners: ((text: string) => void)[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      for (const listener of listeners) listener(text);
    });
  return {
    output: () => output,
    onOutput: (listener) => listeners.push(listener),
    ended: new Promise((resolve) => {
      child.once("error", () => {
        resolve(127);
      });
      child.once("close", (code, signal) => {
        resolve(code ?? (signal === "SIGKILL" ? 137 : 143));
        for (const { folder } of shown) rmSync(folder, { recursive: true });
        network?.close();
      });
    }),
    terminate: () => {
      const program = child.pid === undefined ? undefined : programOf(child.pid);
      if (program !== undefined) process.kill(program, "SIGTERM");
    },
    kill: () => {
      // The group: bubblewrap's child survives a kill of bubblewrap just after the start.
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, "SIGKILL");
    },
    annotate: (annotations) => {
      for (const { folder, items } of shown)
        for (const { fieldRef, path } of items) {
          const key = /^metadata\.annotations\['(.+)'\]$/.exec(fieldRef.fieldPath)?.[1] ?? "";
          writeFileSync(join(folder, `${path}.new`), annotations[key] ?? "");
          renameSync(join(folder, `${path}.new`), join(folder, path));
        }
    },
  };
}

interface Process {
  readonly pid: number;
  readonly parent: number;
}

/** The program of a container: bubblewrap's grandchild, since its child is the first process of the namespace. */
function programOf(bubblewrap: number): number | undefined {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap(readProcess);
  const first = processes.find(({ parent }) => parent === bubblewrap);
  return processes.find(({ parent }) => parent === first?.pid)?.pid;
}

function readProcess(pid: string): readonly Process[] {
  try {
    const [, parent] = /^\d+ \(.*\) \S (\d+) /s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return [{ pid: Number(pid), parent: Number(parent) }];
  } catch {
    // It has ended.
    return [];
  }
}

const networkProgram = join(import.meta.dirname, "fake-network.mjs");

class FakeNetwork {
  readonly folder = makeFolder();
  readonly #server = createServer({ allowHalfOpen: true }, (outer) => {
    const inner = connect({ path: join(this.folder, "socket"), allowHalfOpen: true });
    for (const [one, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      one.on("error", () => other.destroy());
      one.pipe(other);
    }
  });

  listen(address: string, port: number): void {
    this.#server.listen(port, address);
  }

  close(): void {
    this.#server.close();
    rmSync(this.folder, { recursive: true });
  }
}

/** Open to the pod's user. */
function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "shoal-pod-"));
  chmodSync(folder, 0o755);
  return folder;
}
