import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TelemetryRecorder } from "./recorder.ts";

export interface OomWatchOptions {
  /** Where the kernel tells of processes: `/proc`. */
  readonly proc: string;
  /** Process of which the others descend; itself left out. */
  readonly root: number;
  readonly intervalMs: number;
}

interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  readonly rssKb: number;
  /** Ticks from the boot: tells a process from a later one of its number. */
  readonly startTicks: string;
}

const maxTopTasks = 5;
/** A process is counted when it is killed, and gone when its memory is freed. */
const dyingMs = 2_000;
const pageKb = 4;

/**
 * Tells of processes of the session that the kernel has killed for want of memory. It counts such kills and names nobody, its log is for root: the largest
 * process that has gone since the last look is taken for the victim, with the memory that it had then. Linux only.
 *
 * @returns stops it; `undefined` where the kernel does not count.
 */
export function watchOomKills(recorder: TelemetryRecorder, { proc, root, intervalMs }: OomWatchOptions): (() => void) | undefined {
  let known = killsSoFar(proc);
  if (known === undefined) return undefined;
  let before = processesBelow(root, proc);
  /** Kills whose victims are still there, as far as this session's they are. */
  let awaited = 0;
  let awaitedUntilMs = 0;

  function look(): void {
    const count = killsSoFar(proc) ?? 0;
    const now = processesBelow(root, proc);
    const kills = count - (known ?? count);
    const last = before;
    known = count;
    before = now;
    const nowMs = performance.now();
    if (kills > 0) {
      awaited += kills;
      awaitedUntilMs = nowMs + dyingMs;
    } else if (nowMs > awaitedUntilMs) awaited = 0;
    if (awaited === 0) return;
    const alive = new Set(now.map(({ pid, startTicks }) => `${String(pid)} ${startTicks}`));
    const bySize = last.toSorted((one, other) => other.rssKb - one.rssKb);
    const gone = bySize.filter(({ pid, startTicks }) => !alive.has(`${String(pid)} ${startTicks}`));
    for (const victim of gone.slice(0, awaited)) {
      awaited -= 1;
      recorder.record({
        type: "system_oom_kill",
        category: "system",
        source: { kind: "local_process" },
        data: {
          pid: victim.pid,
          process_name: victim.name,
          rss_kb: victim.rssKb,
          ...memory(proc),
          top_tasks: bySize.slice(0, maxTopTasks).map(({ pid, name, rssKb }) => ({ pid, name, rss_kb: rssKb })),
        },
      });
    }
  }

  const timer = setInterval(look, intervalMs).unref();
  return () => {
    clearInterval(timer);
  };
}

function read(proc: string, path: string): string {
  try {
    return readFileSync(join(proc, path), "utf8");
  } catch {
    return "";
  }
}

function killsSoFar(proc: string): number | undefined {
  const count = /^oom_kill (\d+)$/m.exec(read(proc, "vmstat"))?.[1];
  return count === undefined ? undefined : Number(count);
}

function memory(proc: string): { mem_total_kb?: number; mem_free_kb?: number } {
  const text = read(proc, "meminfo");
  const [total, free] = ["MemTotal", "MemFree"].map((name) => new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1]);
  return { ...(total !== undefined && { mem_total_kb: Number(total) }), ...(free !== undefined && { mem_free_kb: Number(free) }) };
}

/** Processes that have not ended, with those that descend from them. */
function processesBelow(root: number, proc: string): Seen[] {
  const all = readdirSync(proc).flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const text = read(proc, `${name}/stat`);
    // The program's name, in parentheses, may hold anything.
    const end = text.lastIndexOf(")");
    const [state, parent, ...rest] = text.slice(end + 2).split(" ");
    if (end === -1 || state === "Z" || state === "X") return [];
    const rssKb = Number(rest[19] ?? 0) * pageKb;
    // One that was killed stays for a moment without memory.
    if (rssKb === 0) return [];
    return [{ pid: Number(name), parent: Number(parent), name: text.slice(text.indexOf("(") + 1, end), startTicks: rest[17] ?? "", rssKb }];
  });
  const children = Map.groupBy(all, ({ parent }) => parent);
  const found: Seen[] = [];
  const parents = [root];
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    for (const child of children.get(parent) ?? []) {
      found.push(child);
      parents.push(child.pid);
    }
  }
  return found;
}
