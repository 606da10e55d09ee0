import { lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { diskParts, makesIpc, sharedMemoryBytes, sharedMemoryFolder } from "./launcher.ts";
import type { SandboxEtc } from "./etc.ts";
import type { SandboxTools } from "../host/tools.ts";

export interface Bind {
  readonly from: string;
  readonly to: string;
}

export interface SandboxCommand {
  readonly tools: SandboxTools;
  readonly etc: SandboxEtc;
  readonly root: string;
  /** For the box's `/`, in place of `root`. */
  readonly memoryFiles?: {
    readonly bytes: number;
    /** Absolute, and writable for the box's user. */
    readonly folders: readonly string[];
    /** Whether the launcher mounted it at {@link SandboxCommand.root}; otherwise the number of files is unlimited. */
    readonly mounted: boolean;
  };
  readonly readOnly: readonly Bind[];
  readonly writable: readonly Bind[];
  /** Host user of the box, for a server that runs as root. */
  readonly owner: number | undefined;
  readonly nestedUsers: boolean;
  /** Can be copied with CRIU: nothing in it depends on the process that started it. */
  readonly isForkable?: boolean;
  /** For the first process of a forkable box, see `makeNodeLoader`. */
  readonly loader?: string | undefined;
  /** The launcher made the network namespace. */
  readonly hasInterface?: boolean;
  /** Bubblewrap reports the id of its first process there. */
  readonly infoFd?: number;
  readonly filterFd?: number;
  readonly maxProcesses?: number;
  readonly folder?: string;
  readonly program: readonly string[];
}

/** Includes threads. Six pages use about 120 threads in a headless shell, 170 in a full browser. */
export const maxProcesses = 1024;

/**
 * Starts a program in a box: separate namespaces for mounts, processes, network, IPC and host name; no capabilities; no
 * new privileges; a system call filter. As root, the box switches to an unused user and creates a user namespace
 * inside: host root could write to `/proc/sys` even without capabilities.
 */
export function sandboxCommand(command: SandboxCommand): readonly [program: string, ...rest: string[]] {
  const { tools, etc, root, owner, memoryFiles, hasInterface = false } = command;
  const asRoot = owner !== undefined;
  const parts = memoryFiles && diskParts(memoryFiles.bytes);
  return [
    tools.bwrap,
    ...["--unshare-pid", "--unshare-uts"],
    // With a namespace of control groups, CRIU restores no threads.
    ...(command.isForkable === true ? [] : ["--unshare-cgroup-try"]),
    ...(makesIpc(hasInterface, memoryFiles?.mounted === true) ? [] : ["--unshare-ipc"]),
    ...(hasInterface ? [] : ["--unshare-net"]),
    ...(asRoot ? [] : ["--unshare-user", "--uid", "1000", "--gid", "1000"]),
    ...[
      // Bubblewrap's own first process runs a program that is not in the box.
      command.isForkable === true ? "--as-pid-1" : "--die-with-parent",
      "--new-session",
      "--hostname",
      "shoal",
      ...(command.infoFd === undefined ? [] : ["--info-fd", String(command.infoFd)]),
    ],
    ...(memoryFiles === undefined || memoryFiles.mounted ? ["--bind", root, "/"] : rootInMemory(memoryFiles)),
    ...["--ro-bind", "/usr", "/usr", ...systemFolders()],
    ...["--ro-bind", etc.path, "/etc", ...etc.bound.flatMap((name) => ["--ro-bind", `/etc/${name}`, `/etc/${name}`])],
    ...["--proc", "/proc", "--dev", "/dev"],
    ...(memoryFiles?.mounted === true
      ? ["--bind", join(root, sharedMemoryFolder), "/dev/shm"]
      : ["--perms", "1777", "--size", String(parts?.sharedMemory ?? sharedMemoryBytes), "--tmpfs", "/dev/shm"]),
    ...["--remount-ro", "/dev"],
    // Bubblewrap would create them without access for other users.
    ...parentsOf([...command.readOnly, ...command.writable]).flatMap((folder) => ["--perms", "0755", "--dir", folder]),
    ...command.readOnly.flatMap(({ from, to }) => ["--ro-bind", from, to]),
    ...command.writable.flatMap(({ from, to }) => ["--bind", from, to]),
    ...[
      "--cap-drop",
      "ALL",
      ...(asRoot ? ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"] : []),
    ],
    ...(command.filterFd === undefined ? [] : ["--seccomp", String(command.filterFd)]),
    ...["--chdir", command.folder ?? "/home/shoal", "--"],
    ...(asRoot ? handOver(owner, command) : []),
    ...(tools.prlimit === undefined
      ? []
      : [tools.prlimit, `--nproc=${command.maxProcesses ?? maxProcesses}`, "--core=0"]),
    ...(command.isForkable === true ? firstProcess(command.loader) : []),
    ...command.program,
  ];
}

/**
 * Waits for all processes, also for those whose parents have ended. It has the streams of the instance, and with the
 * loader, programs of the box cannot open them either.
 */
function firstProcess(loader: string | undefined): readonly string[] {
  return [...(loader === undefined ? [] : [loader]), "/bin/sh", "-c", '"$@"; exit $?', "shoal"];
}

/** Hides options, which contain host paths, in a descriptor: the box can read `/proc/1/cmdline`. */
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

/** Writable for everyone, because bubblewrap's user may differ from the box's. No other user sees the folders. */
function rootInMemory({
  bytes,
  folders,
}: {
  readonly bytes: number;
  readonly folders: readonly string[];
}): readonly string[] {
  const parents = parentsOf(folders.map((to) => ({ from: "", to }))).filter((path) => !folders.includes(path));
  return [
    ...["--size", String(diskParts(bytes).files), "--perms", "0755", "--tmpfs", "/"],
    ...parents.flatMap((path) => ["--perms", "0755", "--dir", path]),
    ...folders.flatMap((path) => ["--perms", "1777", "--dir", path]),
  ];
}

function handOver(owner: number, { tools, nestedUsers }: SandboxCommand): readonly string[] {
  return [
    ...[
      tools.setpriv ?? "setpriv",
      `--reuid=${owner}`,
      `--regid=${owner}`,
      "--clear-groups",
      "--bounding-set=-all",
      "--inh-caps=-all",
    ],
    ...(nestedUsers ? [tools.unshare ?? "unshare", "--user", "--map-user=1000", "--map-group=1000"] : []),
  ];
}

/** On most distributions these are links into `/usr`. */
function systemFolders(): readonly string[] {
  return ["/bin", "/sbin", "/lib", "/lib32", "/lib64"].flatMap((path) => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return [];
    return found.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
  });
}

function parentsOf(binds: readonly Bind[]): readonly string[] {
  const parents = new Set<string>();
  for (const { to } of binds)
    for (let end = to.indexOf("/", 1); end > 0; end = to.indexOf("/", end + 1)) parents.add(to.slice(0, end));
  return [...parents];
}
