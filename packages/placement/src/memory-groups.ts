import type { PlacementLog } from "./placement.ts";
import { identityOf, isRunning } from "./process-table.ts";
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Control groups of the kernel, by which the memory of each box is limited. */
export interface MemoryGroups {
  /** Makes a group with its limit. @throws when the kernel refuses it. */
  open(id: string): Promise<MemoryGroup>;
}

export interface MemoryGroup {
  /** What stands before a command for it to run in the group, with all that it starts. */
  readonly command: readonly [program: string, ...rest: string[]];
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
 * @returns `undefined` where it may not; sessions then take what memory there is.
 */
export async function findMemoryGroups(limitBytes: number, log: PlacementLog): Promise<MemoryGroups | undefined> {
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
  const [own, mounts] = await Promise.all([readFile("/proc/self/cgroup", "utf8").catch(() => ""), readFile("/proc/self/mounts", "utf8").catch(() => "")]);
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

async function makeGroup(path: string, { limit, swap, swapLimit }: Version, bytes: number): Promise<MemoryGroup> {
  await mkdir(path);
  try {
    await writeFile(join(path, limit), String(bytes), { flag: "r+" });
    await writeFile(join(path, swap), swapLimit(bytes), { flag: "r+" }).catch(() => undefined);
  } catch (error) {
    await rmdir(path);
    throw error;
  }
  return {
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
