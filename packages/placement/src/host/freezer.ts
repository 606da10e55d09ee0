import { hasCode } from "@shoal/primitives";
import type { PlacementLog } from "../interface/placement-log.ts";
import { abandonedGroups, groupNames, type GroupParent, groupParents, removeGroup } from "./control-groups.ts";
import type { MemoryGroup, MemoryGroups } from "./memory-groups.ts";
import { hasSwap, pageOut } from "./page-out.ts";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Freezers {
  /** Whether the machine has swap. */
  readonly pagesOut: boolean;
  of(id: string, memory: Pick<MemoryGroup, "isV2" | "path">): BoxFreezer;
}

const probeTimeoutMs = 10_000;
/** A process that starts others all the time could otherwise keep the move busy forever. */
const maxMoveRounds = 50;

/** @returns `undefined`: this process may not freeze others. */
export async function findFreezers(
  memory: Pick<MemoryGroups, "canFreeze">,
  log: PlacementLog,
): Promise<Freezers | undefined> {
  const pagesOut = await hasSwap();
  // In v2, one group has both controllers, so that no process has to move.
  if (memory.canFreeze) return { pagesOut, of: (_id, group) => new BoxFreezer(group) };
  for (const parent of await freezerParents()) {
    try {
      return await freezersIn(parent, pagesOut);
    } catch (error) {
      log.debug({ path: parent.path, error: String(error) }, "Cannot freeze processes here.");
    }
  }
  return undefined;
}

/** Freezers with separate groups. @throws if this process may not freeze others there. */
export async function freezersIn({ path: parent, isV2 }: GroupParent, pagesOut: boolean): Promise<Freezers> {
  const nameOf = groupNames();
  const path = join(parent, nameOf("probe"));
  for (const left of await abandonedGroups(parent)) await removeGroup(left).catch(() => undefined);
  await mkdir(path);
  try {
    // The right to create a group does not include moving processes into it.
    await run("/bin/sh", ["-c", 'echo $$ > "$0/cgroup.procs"', path], {
      timeout: probeTimeoutMs,
      killSignal: "SIGKILL",
    });
    for (const isFrozen of [true, false]) setFrozen({ path, isV2 }, isFrozen);
  } finally {
    await removeGroup(path);
  }
  return { pagesOut, of: (id, memory) => new BoxFreezer(memory, { path: join(parent, nameOf(id)), isV2 }) };
}

/** Frozen processes of killed servers cannot end in v1: continues them, so that they receive their signals. */
export async function thawAbandoned(): Promise<void> {
  if (process.platform !== "linux") return;
  for (const { path, isV2 } of [...(await freezerParents()), ...(await groupParents("memory"))]) {
    const left = await abandonedGroups(path).catch(() => []);
    for (const group of left) {
      try {
        setFrozen({ path: group, isV2 }, false);
      } catch {
        // Only a group of v1 for memory, which has no freezer, or the group has just ended.
      }
    }
  }
}

/** v2 first: it kills frozen processes, also when their server is killed. */
export async function freezerParents(): Promise<GroupParent[]> {
  const parents = await groupParents("freezer");
  return parents.sort((a, b) => Number(b.isV2) - Number(a.isV2));
}

/** Stops and continues all processes of a box. */
export class BoxFreezer {
  readonly #memory: Pick<MemoryGroup, "isV2" | "path">;
  readonly #own: GroupParent | undefined;
  #isPrepared = false;

  /** @param own - the group for the freezer, where that of `memory` cannot freeze. */
  constructor(memory: Pick<MemoryGroup, "isV2" | "path">, own?: GroupParent) {
    this.#memory = memory;
    this.#own = own;
  }

  /** Call it before {@link BoxFreezer.freeze}. Only the first call takes long: about 40 ms on some kernels. */
  async prepare(): Promise<void> {
    if (this.#own === undefined || this.#isPrepared) return;
    await mkdir(this.#own.path, { recursive: true });
    await moveAll(this.#memory.path, this.#own.path);
    this.#isPrepared = true;
  }

  /** Synchronous, so that no other code runs between a decision and its effect. @throws if the kernel refuses it. */
  freeze(): void {
    setFrozen(this.#own ?? this.#memory, true);
  }

  /** Synchronous. Does nothing for a removed group. @throws if the kernel refuses it. */
  thaw(): void {
    try {
      setFrozen(this.#own ?? this.#memory, false);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  /** Moves the memory of the frozen box to swap, in steps, while `mayContinue` returns true. */
  pageOut(mayContinue: () => boolean): Promise<void> {
    return pageOut(this.#memory, mayContinue);
  }

  async remove(): Promise<void> {
    if (this.#own !== undefined) await removeGroup(this.#own.path);
  }
}

function setFrozen({ path, isV2 }: GroupParent, isFrozen: boolean): void {
  const [file, value] = isV2
    ? ["cgroup.freeze", isFrozen ? "1" : "0"]
    : ["freezer.state", isFrozen ? "FROZEN" : "THAWED"];
  writeFileSync(join(path, file), value, { flag: "r+" });
}

/** New processes begin in the group of their parent, so that each round finds fewer. */
async function moveAll(from: string, to: string): Promise<void> {
  for (let round = 0; round < maxMoveRounds; round++) {
    const [all, moved] = await Promise.all([from, to].map((group) => processesOf(group)));
    const missing = (all ?? []).filter((pid) => moved?.includes(pid) === false);
    if (missing.length === 0) return;
    for (const pid of missing)
      await writeFile(join(to, "cgroup.procs"), pid, { flag: "r+" }).catch((error: unknown) => {
        // The process has just ended.
        if (!hasCode(error, "ESRCH")) throw error;
      });
  }
  throw new Error("The box starts processes faster than they can be moved.");
}

async function processesOf(group: string): Promise<string[]> {
  const text = await readFile(join(group, "cgroup.procs"), "utf8");
  return text.split("\n").filter((pid) => pid !== "");
}

function isMissing(error: unknown): boolean {
  return hasCode(error, "ENOENT", "ENODEV");
}
