import type { SandboxTools } from "./sandbox-host.ts";

/** Shared memory of one box, in bytes: what a browser exchanges its pictures through. */
export const sharedMemoryBytes = 512 * 1024 * 1024;
/** Files and folders of a filesystem in memory: one for each such number of bytes. Each takes about 1 KiB of the kernel's memory. */
const bytesPerFile = 8_192;
/** Shared memory has few files, which are large. */
const sharedMemoryFiles = 16_384;
/** When memory runs out, the kernel is to end a session and not the service. Chromium gives its renderers 300 on top of zero, so this stays below. */
const memoryScore = 200;

/** Where the launcher mounts the box's shared memory, below the box's `/`. */
export const sharedMemoryFolder = "dev/shm";

export interface MountedFiles {
  /** The folder of the host that becomes the box's `/`. */
  readonly root: string;
  /** Bytes of the filesystem. */
  readonly bytes: number;
  /** Absolute folders in the box that the box's user writes to. */
  readonly folders: readonly string[];
  /** For a server that runs as root: the user that the box runs as, outside. */
  readonly owner: number | undefined;
}

/**
 * The start of a command that runs the rest of it with filesystems in memory at `files.root` and below, which no other process of the host sees and which
 * go with the last process of the box. Bubblewrap can limit the bytes of a filesystem, but not the number of its files.
 */
export function boxLauncher(tools: SandboxTools, files?: MountedFiles): readonly [program: string, ...rest: string[]] {
  const score = `echo ${String(memoryScore)} 2>/dev/null >/proc/self/oom_score_adj`;
  if (files === undefined) return ["/bin/sh", "-c", `${score}; exec "$@"`, "shoal"];
  const { root, bytes, folders, owner } = files;
  const user = owner === undefined ? "" : `,uid=${String(owner)},gid=${String(owner)}`;
  const usual = "nosuid,nodev";
  const made = [...folders, sharedMemoryFolder].map((path) => `"$1/${path}"`).join(" ");
  const prepare = [
    'mount -t tmpfs -o "$2" shoal "$1"',
    `mkdir -p ${made}`,
    // The folders of the box's user. No others are there yet.
    ...(owner === undefined ? [] : [`chown -R ${String(owner)}:${String(owner)} "$1"`]),
    `mount -t tmpfs -o "$3" shoal "$1/${sharedMemoryFolder}"`,
    "shift 3",
  ].join(" && ");
  return [
    tools.unshare ?? "unshare",
    ...(owner === undefined ? ["--user", "--map-root-user"] : []),
    ...["--mount", "--propagation", "private"],
    ...["/bin/sh", "-c", `${score}; ${prepare} && exec "$@"`, "shoal", root],
    `${usual},mode=0755,size=${String(bytes)},nr_inodes=${String(Math.ceil(bytes / bytesPerFile))}${user}`,
    `${usual},mode=1777,size=${String(sharedMemoryBytes)},nr_inodes=${String(sharedMemoryFiles)}`,
  ];
}
