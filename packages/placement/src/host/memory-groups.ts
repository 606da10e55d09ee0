import type { PlacementLog } from "../interface/placement-log.ts";
import { identityOf, isRunning } from "./process-table.ts";
import { execFile } from "node:child_process";
import { access, constants, mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface MemoryGroups {
  open(id: string): Promise<MemoryGroup>;
}

export interface MemoryGroup {
  readonly command: readonly [program: string, ...rest: string[]];
  /** @throws if the kernel refuses it, for example below the current use. */
  setLimit(bytes: number): Promise<void>;
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

const prefix = "shoal-box-";
const groupName = /^shoal-box-(\d+)-(\d+)-\w+$/;
/** A group stays in use for a moment after its last process. */
const removeAttempts = 20;
const removeEveryMs = 25;
const probeTimeoutMs = 10_000;

/**
 * Searches below the own control group, and next to it, as user services of systemd need.
 * @param limitBytes - default limit; `undefined` = none. @returns `undefined`: the memory of sessions is unlimited.
 */
export async function findMemoryGroups(
  limitBytes: number | undefined,
  log: PlacementLog,
): Promise<MemoryGroups | undefined> {
  if (process.platform !== "linux") return undefined;
  const { pid, startTicks } = identityOf(process.pid);
  const nameOf = (id: string): string => `${prefix}${String(pid)}-${String(startTicks)}-${id}`;
  for (const { parent, version } of await candidates()) {
    try {
      await removeLeftovers(parent);
      const probe = await makeGroup(join(parent, nameOf("probe")), version, limitBytes);
      try {
        // The right to create a group does not include moving processes into it.
        const [shell, ...given] = probe.command;
        await run(shell, [...given, "/bin/sh", "-c", ":"], { timeout: probeTimeoutMs, killSignal: "SIGKILL" });
      } finally {
        await probe.remove();
      }
      return { open: (id) => makeGroup(join(parent, nameOf(id)), version, limitBytes) };
    } catch (error) {
      log.debug({ path: parent, error: String(error) }, "Cannot create control groups here.");
    }
  }
  return undefined;
}

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
    // In a container, the mount may be its own group.
    for (const parent of [join(mount, path), dirname(join(mount, path)), mount])
      if (parent.startsWith(mount)) found.push({ parent, version });
  }
  return found;
}

async function makeGroup(
  path: string,
  { limit, swap, swapLimit }: Version,
  bytes: number | undefined,
): Promise<MemoryGroup> {
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
    setLimit,
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

async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const [, pid, startTicks] = groupName.exec(name) ?? [];
    if (pid === undefined || isRunning({ pid: Number(pid), startTicks: Number(startTicks) })) continue;
    await rmdir(join(parent, name)).catch(() => undefined);
  }
}
