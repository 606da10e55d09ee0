import { lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { sharedMemoryBytes, sharedMemoryFolder } from "./box-launcher.ts";
import type { SandboxEtc } from "./sandbox-etc.ts";
import type { SandboxTools } from "./sandbox-host.ts";

/** A path of the host, and the path that it has in the box. */
export interface Bind {
  readonly from: string;
  readonly to: string;
}

export interface SandboxCommand {
  readonly tools: SandboxTools;
  readonly etc: SandboxEtc;
  /** The box's `/`, on the host. */
  readonly root: string;
  /** A filesystem in memory that is the box's `/` instead. */
  readonly memoryFiles?: {
    /** Its size. */
    readonly bytes: number;
    /** Absolute folders that the box's user writes to. */
    readonly folders: readonly string[];
    /** Whether the launcher has mounted it at {@link SandboxCommand.root}; else bubblewrap makes it, with bytes limited and files not. */
    readonly mounted: boolean;
  };
  readonly readOnly: readonly Bind[];
  readonly writable: readonly Bind[];
  /** For a server that runs as root: the user that the box runs as, outside. */
  readonly owner: number | undefined;
  /** Whether processes inside may make user namespaces, so that the box's user can be 1000 inside whoever it is outside. */
  readonly nestedUsers: boolean;
  /** File descriptor on which bubblewrap tells the process id of the first process inside. */
  readonly infoFd?: number;
  /** File descriptor with a filter for system calls. */
  readonly filterFd?: number;
  readonly program: readonly string[];
}

/** Threads and processes of one box. Six pages take about 120 threads in a headless shell, 170 in a full browser. */
export const maxProcesses = 1024;

/**
 * The command that starts a program in a box: namespaces of its own for mounts, processes, network, IPC and host name; no capability; no new privileges; a filter for system calls.
 *
 * A plain user gets a user namespace as well. A server that runs as root does not, but hands over to a user that nobody else has (a process that is root
 * outside may write to `/proc/sys`, without any capability), for whom a user namespace is then made inside.
 */
export function sandboxCommand(command: SandboxCommand): readonly [program: string, ...rest: string[]] {
  const { tools, etc, root, owner, memoryFiles } = command;
  const asRoot = owner !== undefined;
  return [
    tools.bwrap,
    ...(asRoot
      ? ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
      : ["--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000"]),
    ...["--die-with-parent", "--new-session", "--hostname", "shoal", ...(command.infoFd === undefined ? [] : ["--info-fd", String(command.infoFd)])],
    ...(memoryFiles === undefined || memoryFiles.mounted ? ["--bind", root, "/"] : rootInMemory(memoryFiles)),
    ...["--ro-bind", "/usr", "/usr", ...systemFolders()],
    ...["--ro-bind", etc.path, "/etc", ...etc.bound.flatMap((name) => ["--ro-bind", `/etc/${name}`, `/etc/${name}`])],
    ...["--proc", "/proc", "--dev", "/dev"],
    ...(memoryFiles?.mounted === true
      ? ["--bind", join(root, sharedMemoryFolder), "/dev/shm"]
      : ["--perms", "1777", "--size", String(sharedMemoryBytes), "--tmpfs", "/dev/shm"]),
    ...["--remount-ro", "/dev"],
    // Bubblewrap would make them itself, for their owner alone.
    ...parentsOf([...command.readOnly, ...command.writable]).flatMap((folder) => ["--perms", "0755", "--dir", folder]),
    ...command.readOnly.flatMap(({ from, to }) => ["--ro-bind", from, to]),
    ...command.writable.flatMap(({ from, to }) => ["--bind", from, to]),
    ...["--cap-drop", "ALL", ...(asRoot ? ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"] : [])],
    ...(command.filterFd === undefined ? [] : ["--seccomp", String(command.filterFd)]),
    ...["--chdir", "/home/shoal", "--"],
    ...(asRoot ? handOver(owner, command) : []),
    ...(tools.prlimit === undefined ? [] : [tools.prlimit, `--nproc=${maxProcesses}`, "--core=0"]),
    ...command.program,
  ];
}

/**
 * Takes the options of a box out of its command, which every process in the box could read in `/proc/1/cmdline`, paths of the host among them.
 *
 * @param fd - descriptor on which bubblewrap reads `options`.
 */
export function hideOptions(
  [bwrap, ...rest]: ReturnType<typeof sandboxCommand>,
  fd: number,
): { readonly command: readonly [program: string, ...rest: string[]]; readonly options: Buffer } {
  const end = rest.indexOf("--");
  return {
    command: [bwrap, "--args", String(fd), ...rest.slice(end)],
    options: Buffer.from(
      rest
        .slice(0, end)
        .map((option) => `${option}\0`)
        .join(""),
    ),
  };
}

/** Its folders belong to the user that bubblewrap runs as, who may be another than the box's user. No other user sees them. */
function rootInMemory({ bytes, folders }: { readonly bytes: number; readonly folders: readonly string[] }): readonly string[] {
  const parents = parentsOf(folders.map((to) => ({ from: "", to }))).filter((path) => !folders.includes(path));
  return [
    ...["--size", String(bytes), "--perms", "0755", "--tmpfs", "/"],
    ...parents.flatMap((path) => ["--perms", "0755", "--dir", path]),
    ...folders.flatMap((path) => ["--perms", "1777", "--dir", path]),
  ];
}

function handOver(owner: number, { tools, nestedUsers }: SandboxCommand): readonly string[] {
  return [
    ...[tools.setpriv ?? "setpriv", `--reuid=${owner}`, `--regid=${owner}`, "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"],
    ...(nestedUsers ? [tools.unshare ?? "unshare", "--user", "--map-user=1000", "--map-group=1000"] : []),
  ];
}

/** Most distributions have moved these into `/usr` and left links. */
function systemFolders(): readonly string[] {
  return ["/bin", "/sbin", "/lib", "/lib32", "/lib64"].flatMap((path) => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return [];
    return found.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
  });
}

function parentsOf(binds: readonly Bind[]): readonly string[] {
  const parents = new Set<string>();
  for (const { to } of binds) for (let end = to.indexOf("/", 1); end > 0; end = to.indexOf("/", end + 1)) parents.add(to.slice(0, end));
  return [...parents];
}
