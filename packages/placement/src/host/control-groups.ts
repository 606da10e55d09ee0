import { hasCode } from "@shoal/primitives";
import { identityOf, isRunning } from "./process-table.ts";
import { readdir, readFile, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A directory in which this process may be able to create control groups. */
export interface GroupParent {
  readonly path: string;
  readonly isV2: boolean;
}

const prefix = "shoal-box-";
const groupName = /^shoal-box-(\d+)-(\d+)-\w+$/;
/** A group stays in use for a moment after its last process. */
const removeAttempts = 20;
const removeEveryMs = 25;

/** Hierarchies of v2, and of v1 with `controller`: below the own group, and next to it, as user services of systemd need. */
export async function groupParents(controller: "memory" | "freezer"): Promise<GroupParent[]> {
  const [own, mounts] = await Promise.all([
    readFile("/proc/self/cgroup", "utf8").catch(() => ""),
    readFile("/proc/self/mounts", "utf8").catch(() => ""),
  ]);
  const ownPath = new RegExp(String.raw`^\d+:(?:[^:]*,)?${controller}(?:,[^:]*)?:(.*)$`, "m");
  const found: GroupParent[] = [];
  for (const line of mounts.split("\n")) {
    const [, mount = "", type, options = ""] = line.split(" ");
    const isV1 = type === "cgroup" && options.split(",").includes(controller);
    if (!isV1 && type !== "cgroup2") continue;
    const path = (isV1 ? ownPath : /^0::(.*)$/m).exec(own)?.[1] ?? "/";
    // In a container, the mount may be its own group.
    for (const parent of [join(mount, path), dirname(join(mount, path)), mount])
      if (parent.startsWith(mount)) found.push({ path: parent, isV2: !isV1 });
  }
  return found;
}

/** @returns names that contain the identity of this process. */
export function groupNames(): (id: string) => string {
  const { pid, startTicks } = identityOf(process.pid);
  return (id) => `${prefix}${String(pid)}-${String(startTicks)}-${id}`;
}

/** Paths of groups whose server has ended. */
export async function abandonedGroups(parent: string): Promise<string[]> {
  const names = await readdir(parent);
  return names.flatMap((name) => {
    const [, pid, startTicks] = groupName.exec(name) ?? [];
    const isAbandoned = pid !== undefined && !isRunning({ pid: Number(pid), startTicks: Number(startTicks) });
    return isAbandoned ? [join(parent, name)] : [];
  });
}

/** Waits for the end of its processes, or kills them. Does nothing if the group does not exist. */
export async function removeGroup(path: string, { kill = false }: { readonly kill?: boolean } = {}): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await rmdir(path);
      return;
    } catch (error) {
      if (hasCode(error, "ENOENT")) return;
      if (attempt === removeAttempts) throw error;
      if (kill) await killMembers(path);
      await sleep(removeEveryMs);
    }
  }
}

async function killMembers(path: string): Promise<void> {
  const text = await readFile(join(path, "cgroup.procs"), "utf8").catch(() => "");
  for (const pid of text.split("\n").map(Number)) {
    // 0: of another namespace of processes.
    if (pid <= 1 || pid === process.pid) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has just ended.
    }
  }
}
