import type { PlacementLog } from "../interface/placement-log.ts";
import { abandonedGroups, groupNames, groupParents, removeGroup } from "./control-groups.ts";
import { execFile } from "node:child_process";
import { access, constants, mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface MemoryGroups {
  /** Whether the same groups can freeze their processes: in v2, and newer kernels. */
  readonly canFreeze: boolean;
  open(id: string): Promise<MemoryGroup>;
}

export interface MemoryGroup {
  readonly path: string;
  readonly isV2: boolean;
  readonly command: readonly [program: string, ...rest: string[]];
  /** @throws if the kernel refuses it, for example below the current use. */
  setLimit(bytes: number): Promise<void>;
  /** Of memory that no file on a disk has, also swapped out, and of files in memory. */
  storableBytes(): Promise<number>;
  /** Kills the processes that are left in it. */
  remove(): Promise<void>;
}

interface Version {
  readonly limit: string;
  /** Memory plus swap (v1), or swap (v2); missing in some kernels. */
  readonly swap: string;
  readonly swapLimit: (bytes: number) => string;
}

const versions: Readonly<Record<"v1" | "v2", Version>> = {
  v1: { limit: "memory.limit_in_bytes", swap: "memory.memsw.limit_in_bytes", swapLimit: String },
  v2: { limit: "memory.max", swap: "memory.swap.max", swapLimit: () => "0" },
};

const probeTimeoutMs = 10_000;

/**
 * @param limitBytes - default limit; `undefined` = none. @returns `undefined`: the memory of sessions is unlimited.
 */
export async function findMemoryGroups(
  limitBytes: number | undefined,
  log: PlacementLog,
): Promise<MemoryGroups | undefined> {
  if (process.platform !== "linux") return undefined;
  const nameOf = groupNames();
  for (const { path: parent, isV2 } of await groupParents("memory")) {
    try {
      for (const path of await abandonedGroups(parent)) await rmdir(path).catch(() => undefined);
      const probe = await makeGroup(join(parent, nameOf("probe")), isV2, limitBytes);
      let canFreeze = false;
      try {
        canFreeze = await access(join(probe.path, "cgroup.freeze"), constants.W_OK).then(
          () => true,
          () => false,
        );
        // The right to create a group does not include moving processes into it.
        const [shell, ...given] = probe.command;
        await run(shell, [...given, "/bin/sh", "-c", ":"], { timeout: probeTimeoutMs, killSignal: "SIGKILL" });
      } finally {
        await probe.remove();
      }
      return { canFreeze, open: (id) => makeGroup(join(parent, nameOf(id)), isV2, limitBytes) };
    } catch (error) {
      log.debug({ path: parent, error: String(error) }, "Cannot create control groups here.");
    }
  }
  return undefined;
}

async function makeGroup(path: string, isV2: boolean, bytes: number | undefined): Promise<MemoryGroup> {
  const { limit, swap, swapLimit } = versions[isV2 ? "v2" : "v1"];
  async function setLimit(limitBytes: number): Promise<void> {
    const limitSwap = () => writeFile(join(path, swap), swapLimit(limitBytes), { flag: "r+" }).catch(() => undefined);
    // In v1, the limit with swap must not be below that of memory, so raising and lowering need opposite orders.
    await limitSwap();
    await writeFile(join(path, limit), String(limitBytes), { flag: "r+" });
    await limitSwap();
  }

  await mkdir(path);
  try {
    if (bytes !== undefined) await setLimit(bytes);
    else await access(join(path, limit), constants.W_OK);
  } catch (error) {
    await rmdir(path);
    throw error;
  }
  return {
    path,
    isV2,
    setLimit,
    command: ["/bin/sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', path],
    async storableBytes() {
      const [text, swap] = await Promise.all([
        readFile(join(path, "memory.stat"), "utf8"),
        readFile(join(path, "memory.swap.current"), "utf8").catch(() => "0"),
      ]);
      const sum = [...text.matchAll(isV2 ? /^(?:anon|shmem) (\d+)$/gm : /^(?:rss|shmem|swap) (\d+)$/gm)];
      return sum.reduce((bytes, [, part]) => bytes + Number(part), Number(swap));
    },
    remove: () => removeGroup(path, { kill: true }),
  };
}
