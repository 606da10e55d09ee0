import type { PlacementLog } from "./placement.ts";
import { identityOf, isRunning } from "./process-table.ts";
import { execFile } from "node:child_process";
import { access, constants, mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Control groups of the kernel, by which the memory of each box is limited. */
export interface MemoryGroups {
  /** Makes a group with the usual limit. @throws when the kernel refuses it. */
  open(id: string): Promise<MemoryGroup>;
}

export interface MemoryGroup {
  /** What stands before a command for it to run in the group, with all that it starts. */
  readonly command: readonly [program: string, ...rest: string[]];
  /** Sets another limit, while something runs in it. @throws when the kernel refuses it: below what is in use, say. */
  setLimit(bytes: number): Promise<void>;
  /** Removes the group, once nothing runs in it. */
  remove(): Promise<void>;
}

interface Version {
  /** File with the limit in bytes. */
  readonly limit: string;
  /** File with the limit of memory and swap together (v1), or of swap (v2); not every kernel has it. */
  readonly swap: string;
  readonly swapLimit: (bytes: number) => string;
}

const versions: Readonly<Record<"v1" | "v2", Version>> = {
  v1: { limit: "memory.limit_in_bytes", swap: "memory.memsw.limit_in_bytes", swapLimit: String },
  v2: { limit: "memory.max", swap: "memory.swap.max", swapLimit: () => "0" },
};

const prefix = "shoal-box-";
const groupName = /^shoal-box-(\d+)-(\d+)-\w+$/;
/** A group counts as in use for a moment after its last process has gone. */
const removeAttempts = 20;
const removeEveryMs = 25;
const probeTimeoutMs = 10_000;

/**
 * Finds out where this process may make control groups: below its own, or beside it, as a user's services on systemd may.
 *
 * @param limitBytes - of each new group; `undefined` = none until one is set.
 * @returns `undefined` where it may not; sessions then take what memory there is.
 */
export async function findMemoryGroups(limitBytes: number | undefined, log: PlacementLog): Promise<MemoryGroups | undefined> {
  if (process.platform !== "linux") return undefined;
  const { pid, startTicks } = identityOf(process.pid);
  const nameOf = (id: string): string => `${prefix}${String(pid)}-${String(startTicks)}-${id}`;
  for (const { parent, version } of await candidates()) {
    try {
      await removeLeftovers(parent);
      const probe = await makeGroup(join(parent, nameOf("probe")), version, limitBytes);
      try {
        // To make a group is one thing, to move a process into it another.
        const [shell, ...given] = probe.command;
        await run(shell, [...given, "/bin/sh", "-c", ":"], { timeout: probeTimeoutMs, killSignal: "SIGKILL" });
      } finally {
        await probe.remove();
      }
      return { open: (id) => makeGroup(join(parent, nameOf(id)), version, limitBytes) };
    } catch (error) {
      log.debug({ path: parent, error: String(error) }, "No control groups can be made here.");
    }
  }
  return undefined;
}

/** Where groups of this process are, most likely first. */
async function candidates(): Promise<{ readonly parent: string; readonly version: Version }[]> {
  const [own, mounts] = await Promise.all([
    readFile("/proc/self/cgroup", "utf8").catch(() => ""),
    readFile("/proc/self/mounts", "utf8").catch(() => ""),
  ]);
  const found: { parent: string; version: Version }[] = [];
  for (const line of mounts.split("\n")) {
    const [, mount = "", type, options = ""] = line.split(" ");
    const isV1 = type === "cgroup" && options.split(",").includes("memory");
    if (!isV1 && type !== "cgroup2") continue;
    const version = isV1 ? versions.v1 : versions.v2;
    const path = (isV1 ? /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m : /^0::(.*)$/m).exec(own)?.[1] ?? "/";
    // In a container its own group may be what is mounted.
    for (const parent of [join(mount, path), dirname(join(mount, path)), mount]) if (parent.startsWith(mount)) found.push({ parent, version });
  }
  return found;
}

async function makeGroup(path: string, { limit, swap, swapLimit }: Version, bytes: number | undefined): Promise<MemoryGroup> {
  async function setLimit(limitBytes: number): Promise<void> {
    const limitSwap = () => writeFile(join(path, swap), swapLimit(limitBytes), { flag: "r+" }).catch(() => undefined);
    // In v1 memory and swap together are never limited to less than memory alone: a limit that grows begins with the one, a limit that shrinks with the other.
    await limitSwap();
    await writeFile(join(path, limit), String(limitBytes), { flag: "r+" });
    await limitSwap();
  }

  await mkdir(path);
  try {
    if (bytes !== undefined) await setLimit(bytes);
    // A group that nothing can be set in is none.
    else await access(join(path, limit), constants.W_OK);
  } catch (error) {
    await rmdir(path);
    throw error;
  }
  return {
    setLimit,
    // The shell joins the group, and becomes the program.
    command: ["/bin/sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', path],
    async remove() {
      for (let attempt = 1; ; attempt++) {
        try {
          await rmdir(path);
          return;
        } catch (error) {
          if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
          if (attempt === removeAttempts) throw error;
          await sleep(removeEveryMs);
        }
      }
    },
  };
}

/** Groups of servers that were killed; what ran in them went with them. */
async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const [, pid, startTicks] = groupName.exec(name) ?? [];
    if (pid === undefined || isRunning({ pid: Number(pid), startTicks: Number(startTicks) })) continue;
    await rmdir(join(parent, name)).catch(() => undefined);
  }
}
