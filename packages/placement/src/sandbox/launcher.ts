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

export interface LauncherOptions {
  readonly files?: MountedFiles | undefined;
  /** Makes the box's network namespace, so that bubblewrap must not. */
  readonly hasInterface?: boolean;
  readonly owner: number | undefined;
}

/** Does what bubblewrap cannot: limits the number of files in memory, and adds a network interface. */
export function boxLauncher(
  tools: SandboxTools,
  { files, hasInterface = false, owner }: LauncherOptions,
): readonly [program: string, ...rest: string[]] {
  const score = `echo ${String(memoryScore)} 2>/dev/null >/proc/self/oom_score_adj`;
  const addInterface = hasInterface
    ? [`printf '%s\\n' ${interfaceSteps.map((step) => `'${step}'`).join(" ")} | ${tools.ip ?? "ip"} -batch -`]
    : [];
  if (files === undefined && !hasInterface) return ["/bin/sh", "-c", `${score}; exec "$@"`, "shoal"];
  const entered = [
    tools.unshare ?? "unshare",
    ...(owner === undefined ? ["--user", "--map-root-user"] : []),
    ...(hasInterface ? ["--net"] : []),
  ];
  if (files === undefined)
    return [
      entered[0] ?? "",
      ...entered.slice(1),
      "/bin/sh",
      "-c",
      `${score}; ${addInterface.join("")} && exec "$@"`,
      "shoal",
    ];
  const { root, bytes, folders } = files;
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
  return [
    entered[0] ?? "",
    ...entered.slice(1),
    ...["--mount", "--propagation", "private"],
    ...["/bin/sh", "-c", `${score}; ${prepare} && exec "$@"`, "shoal", root],
    `${usual},mode=0755,size=${String(bytes)},nr_inodes=${String(Math.ceil(bytes / bytesPerFile))}${user}`,
    `${usual},mode=1777,size=${String(sharedMemoryBytes)},nr_inodes=${String(sharedMemoryFiles)}`,
  ];
}
