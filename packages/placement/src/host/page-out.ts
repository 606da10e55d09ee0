import type { MemoryGroup } from "./memory-groups.ts";
import pLimit from "p-limit";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

type Group = Pick<MemoryGroup, "path" | "isV2">;

/** Bytes per step: a woken box waits for one step at most. */
const stepBytes = 8 * 2 ** 20;
/** Bytes below which no step is worth its time. */
const leastBytes = 4 * 2 ** 20;
/** A step blocks one of Node's few file threads. */
const turn = pLimit(1);

/** Whether the machine has swap space, zram included. */
export async function hasSwap(): Promise<boolean> {
  const text = await readFile("/proc/swaps", "utf8").catch(() => "");
  return text.trim().split("\n").length > 1;
}

/** Never rejects. Stops when the kernel finds nothing more. */
export async function pageOut(group: Group, mayContinue: () => boolean): Promise<void> {
  if (!(await hasSwap())) return;
  await turn(() => (group.isV2 ? reclaim(group, mayContinue) : lowerLimit(group, mayContinue)));
}

async function reclaim({ path }: Group, mayContinue: () => boolean): Promise<void> {
  const swapMax = join(path, "memory.swap.max");
  const limit = await readFile(swapMax, "utf8").catch(() => undefined);
  try {
    // A running box must not use swap beyond its limit; a frozen one may.
    if (limit !== undefined) await write(swapMax, "max");
    while (mayContinue()) await write(join(path, "memory.reclaim"), String(stepBytes));
  } catch {
    // EAGAIN: nothing more can be reclaimed.
  } finally {
    if (limit !== undefined) await write(swapMax, limit.trim()).catch(() => undefined);
  }
}

/** The kernel pages out before it lowers the limit. Unlike `memory.force_empty`, a step ends early enough for a wake. */
async function lowerLimit({ path }: Group, mayContinue: () => boolean): Promise<void> {
  const limitFile = join(path, "memory.limit_in_bytes");
  const limit = await readFile(limitFile, "utf8").catch(() => undefined);
  if (limit === undefined) return;
  try {
    for (;;) {
      const usage = Number(await readFile(join(path, "memory.usage_in_bytes"), "utf8"));
      if (usage < leastBytes || !mayContinue()) return;
      await write(limitFile, String(usage - Math.min(stepBytes, usage / 2)));
    }
  } catch {
    // EBUSY: nothing more can be reclaimed.
  } finally {
    await write(limitFile, limit.trim()).catch(() => undefined);
  }
}

function write(file: string, value: string): Promise<void> {
  return writeFile(file, value, { flag: "r+" });
}
