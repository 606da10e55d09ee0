import { readdirSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { PlacementError } from "../../interface/placement-error.ts";

/** A process of a box and its descendants, all of them unless there are more than `enough`. */
export function treeOf(root: number, enough = Infinity): readonly number[] {
  const tree = [root];
  // The array grows during the walk. Programs of a box can make chains of processes that no recursion could follow.
  for (const pid of tree) {
    if (tree.length > enough) break;
    for (const thread of readdirOf(pid))
      for (const [child] of textOf(`/proc/${String(pid)}/task/${thread}/children`).matchAll(/\d+/g))
        tree.push(Number(child));
  }
  return tree;
}

const stopMs = 3_000;
const pollMs = 1;
/** Of a session with six pages there are about 30. CRIU needs a descriptor for each, and each look at them takes time. */
const maxProcesses = 300;
/** A browser has less than 1 MiB of it, and a program of a box can map any amount. */
const maxWipedBytes = 4 * 2 ** 20;
/** Of all processes together. */
const maxMapBytes = 64 * 2 ** 20;

/** Whether all are stopped by a signal, and no tracer holds them. */
export function areStopped(pids: readonly number[]): boolean {
  return pids.every((pid) => {
    const status = textOf(`/proc/${String(pid)}/status`);
    return /^State:\s+[TZ] /m.test(status) && /^TracerPid:\s+0$/m.test(status);
  });
}

/** Leaves the thread to others: a look at the processes of a box takes longer the more threads they have. */
export async function sleepAfter(lookedMs: number, leastMs: number): Promise<void> {
  await sleep(Math.max(leastMs, 4 * (performance.now() - lookedMs)));
}

/** Stops a process and all its descendants, also new ones. @throws {PlacementError} `bad_option` after some seconds. */
export async function stopAll(root: number): Promise<void> {
  const untilMs = performance.now() + stopMs;
  for (let known = 0; performance.now() < untilMs;) {
    const lookedMs = performance.now();
    const pids = treeOf(root, maxProcesses);
    if (pids.length > maxProcesses)
      throw new PlacementError(
        "bad_option",
        `The session has more than ${String(maxProcesses)} processes, the limit for copies. End some of them.`,
      );
    if (pids.length === known && areStopped(pids)) return;
    known = pids.length;
    signalAll(pids, "SIGSTOP");
    await sleepAfter(lookedMs, pollMs);
  }
  // Another attempt would only stop the session again.
  throw new PlacementError(
    "bad_option",
    `The processes of the session did not stop within ${String(stopMs / 1000)} seconds, for example because a program debugs another.`,
  );
}

/** Splits the processes of a box: its first process and the instance, which that has started first; and others. */
export function startersOf(tree: readonly number[]): readonly [starters: readonly number[], others: readonly number[]] {
  const starters = tree.filter((pid) => {
    const lines = textOf(`/proc/${String(pid)}/status`).split("\n");
    return (
      Number(
        lines
          .find((line) => line.startsWith("NSpid:"))
          ?.split("\t")
          .at(-1),
      ) <= 2
    );
  });
  return [starters, tree.filter((pid) => !starters.includes(pid))];
}

export function continueAll(pids: readonly number[]): void {
  signalAll(pids, "SIGCONT");
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has just ended.
    }
  }
}

const zeros = Buffer.alloc(64 * 1024);

/**
 * Zeros the memory that a fork would zero (`MADV_WIPEONFORK`): the state of random generators. Without it, all copies
 * of a process make the same keys. The processes must be stopped. @returns the number of bytes.
 * @throws if they have more of it than a browser, or have ended.
 */
export async function wipeForkState(pids: readonly number[]): Promise<number> {
  let mapBytes = 0;
  let wiped = 0;
  for (const pid of pids) {
    const found = new WipedRanges();
    for await (const chunk of chunksOf(`/proc/${String(pid)}/smaps`)) {
      mapBytes += chunk.length;
      if (mapBytes > maxMapBytes)
        throw new Error(`Its processes have maps of more than ${String(maxMapBytes / 2 ** 20)} MiB, the limit.`);
      found.add(chunk);
    }
    wiped += found.ranges.reduce((sum, { start, end }) => sum + end - start, 0);
    if (wiped > maxWipedBytes)
      throw new Error(
        `Its processes have more than ${String(maxWipedBytes / 2 ** 20)} MiB of memory that forks wipe, the limit.`,
      );
    if (found.ranges.length > 0) await wipe(pid, found.ranges);
  }
  return wiped;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

async function wipe(pid: number, ranges: readonly Range[]): Promise<void> {
  const memory = await open(`/proc/${String(pid)}/mem`, "r+");
  try {
    for (const { start, end } of ranges)
      for (let at = start; at < end;) {
        const { bytesWritten } = await memory.write(zeros, 0, Math.min(zeros.length, end - at), at);
        // The kernel answers so for a process that has just been killed.
        if (bytesWritten === 0) throw new Error(`Process ${String(pid)} has ended.`);
        at += bytesWritten;
      }
  } finally {
    await memory.close();
  }
}

/** Of a file of a process; none if it has ended. */
async function* chunksOf(path: string): AsyncGenerator<string> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return;
  try {
    for (;;) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(zeros.length));
      if (bytesRead === 0) return;
      yield buffer.toString("latin1", 0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Reads `smaps` in pieces: a program of a box can make it so long that the server would do nothing else for seconds. */
export class WipedRanges {
  readonly ranges: Range[] = [];
  #range: Range | undefined;
  #rest = "";

  add(chunk: string): void {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const [, start, end] = /^([\da-f]+)-([\da-f]+) /.exec(line) ?? [];
      if (start !== undefined && end !== undefined)
        this.#range = { start: Number.parseInt(start, 16), end: Number.parseInt(end, 16) };
      else if (this.#range !== undefined && line.startsWith("VmFlags:") && / wf( |$)/.test(line))
        this.ranges.push(this.#range);
    }
  }
}

function readdirOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${String(pid)}/task`);
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
