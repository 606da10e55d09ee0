import type { SandboxTools } from "../host/tools.ts";

export const sharedMemoryBytes = 512 * 1024 * 1024;
const systemVBytes = 64 * 1024 * 1024;
const pageBytes = 4096;

/** The parts of a box's disk: files, `/dev/shm`, and shared memory of System V. Together they are the disk. */
export function diskParts(bytes: number): {
  readonly files: number;
  readonly sharedMemory: number;
  readonly systemV: number;
} {
  const sharedMemory = Math.min(sharedMemoryBytes, Math.floor(bytes / 4));
  const systemV = Math.min(systemVBytes, Math.floor(bytes / 32));
  return { files: bytes - sharedMemory - systemV, sharedMemory, systemV };
}

/** Of the IPC namespace: shared memory, message queues, semaphores. Before Linux 5.19, only root can set them. */
const limitIpc = (bytes: number): string =>
  `{ echo ${String(Math.ceil(bytes / pageBytes))} >/proc/sys/kernel/shmall; echo 64 >/proc/sys/kernel/msgmni; echo '1024 32000 500 64' >/proc/sys/kernel/sem; } 2>/dev/null; true`;

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
}

/**
 * Chromium calls pages offline if loopback is the only interface. The address has no route: nothing can be reached by
 * this interface, and both of its ends are in the box.
 */
const interfaceSteps: readonly string[] = [
  "link set lo up",
  "link add eth0 type veth peer name peer0",
  "address add 10.0.2.15/32 dev eth0",
  "link set peer0 up",
  "link set eth0 up",
];

/** Addresses of IPv6 would become valid a second later, and Chromium ends requests when addresses change. */
const noLateAddresses = "{ echo 1 2>/dev/null >/proc/sys/net/ipv6/conf/default/disable_ipv6; true; }";

export interface LauncherOptions {
  readonly files?: MountedFiles | undefined;
  /** Makes the box's network namespace, so that bubblewrap must not. */
  readonly hasInterface?: boolean;
  readonly owner: number | undefined;
}

/** Whether {@link boxLauncher} makes the box's IPC namespace, so that bubblewrap must not. */
export const makesIpc = (hasInterface: boolean, filesAreMounted: boolean): boolean => hasInterface || filesAreMounted;

/** Does what bubblewrap cannot: limits the number of files in memory and the memory of IPC, and adds a network interface. */
export function boxLauncher(
  tools: SandboxTools,
  { files, hasInterface = false, owner }: LauncherOptions,
): readonly [program: string, ...rest: string[]] {
  const score = `echo ${String(memoryScore)} 2>/dev/null >/proc/self/oom_score_adj`;
  const addInterface = hasInterface
    ? [
        noLateAddresses,
        `printf '%s\\n' ${interfaceSteps.map((step) => `'${step}'`).join(" ")} | ${tools.ip ?? "ip"} -batch -`,
      ]
    : [];
  if (!makesIpc(hasInterface, files !== undefined)) return ["/bin/sh", "-c", `${score}; exec "$@"`, "shoal"];
  const entered = [
    tools.unshare ?? "unshare",
    ...(owner === undefined ? ["--user", "--map-root-user"] : []),
    "--ipc",
    ...(hasInterface ? ["--net"] : []),
  ];
  if (files === undefined)
    return [
      entered[0] ?? "",
      ...entered.slice(1),
      "/bin/sh",
      "-c",
      `${[score, limitIpc(systemVBytes), ...addInterface].join("; ")} && exec "$@"`,
      "shoal",
    ];
  const { root, bytes, folders } = files;
  const parts = diskParts(bytes);
  const user = owner === undefined ? "" : `,uid=${String(owner)},gid=${String(owner)}`;
  const usual = "nosuid,nodev";
  const made = [...folders, sharedMemoryFolder].map((path) => `"$1/${path}"`).join(" ");
  const prepare = [
    'mount -t tmpfs -o "$2" shoal "$1"',
    `mkdir -p ${made}`,
    ...(owner === undefined ? [] : [`chown -R ${String(owner)}:${String(owner)} "$1"`]),
    `mount -t tmpfs -o "$3" shoal "$1/${sharedMemoryFolder}"`,
    "shift 3",
    ...addInterface,
  ].join(" && ");
  const limited = `${score}; ${limitIpc(parts.systemV)}; ${prepare}`;
  return [
    entered[0] ?? "",
    ...entered.slice(1),
    ...["--mount", "--propagation", "private"],
    ...["/bin/sh", "-c", `${limited} && exec "$@"`, "shoal", root],
    `${usual},mode=0755,size=${String(parts.files)},nr_inodes=${String(Math.ceil(bytes / bytesPerFile))}${user}`,
    `${usual},mode=1777,size=${String(parts.sharedMemory)},nr_inodes=${String(sharedMemoryFiles)}`,
  ];
}
