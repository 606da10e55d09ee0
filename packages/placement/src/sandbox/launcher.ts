import type { SandboxTools } from "../host/tools.ts";

export const sharedMemoryBytes = 512 * 1024 * 1024;
/** Each inode costs about 1 KiB of kernel memory. */
const bytesPerFile = 8_192;
const sharedMemoryFiles = 16_384;
/** The kernel kills sessions before the service when memory runs out. Below 300, the score of Chromium's renderers. */
const memoryScore = 200;

export const sharedMemoryFolder = "dev/shm";

export interface MountedFiles {
  readonly root: string;
  readonly bytes: number;
  readonly folders: readonly string[];
  readonly owner: number | undefined;
}

/** Mounts in-memory filesystems, private to the box, because bubblewrap cannot limit the number of files. */
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
