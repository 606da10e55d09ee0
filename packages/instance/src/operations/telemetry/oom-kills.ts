import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TelemetryRecorder } from "./recorder.ts";

export interface OomWatchOptions {
  /** Directory of the kernel's process information: `/proc`. */
  readonly proc: string;
  /** Ancestor of the watched processes; not watched itself. */
  readonly root: number;
  readonly intervalMs: number;
}

interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  readonly rssKb: number;
  /** Start time in ticks since boot: distinguishes processes with the same id. */
  readonly startTicks: string;
}

const maxTopTasks = 5;
/** Time from the kernel's count until the victim's memory is freed. */
const dyingMs = 2_000;
const pageKb = 4;
const looksUntilReadAgain = 20;

/**
 * Linux only. The kernel counts these kills without naming the victim, and only root may read its log. So this reports
 * the largest process that ended since the last look. @returns stops watching; `undefined` when the kernel does not
 * count kills.
 */
export function watchOomKills(
  recorder: TelemetryRecorder,
  { proc, root, intervalMs }: OomWatchOptions,
): (() => void) | undefined {
  let known = killsSoFar(proc);
  if (known === undefined) return undefined;
  const family = familyOf(root, proc);
  let before = family();
  /** Kills whose victims have not ended yet, if they belong to this session. */
  let awaited = 0;
  let awaitedUntilMs = 0;

  function look(): void {
    const count = killsSoFar(proc) ?? 0;
    const now = family();
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
  const [total, free] = ["MemTotal", "MemFree"].map(
    (name) => new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1],
  );
  return {
    ...(total !== undefined && { mem_total_kb: Number(total) }),
    ...(free !== undefined && { mem_free_kb: Number(free) }),
  };
}

/**
 * Returns a function that lists the processes below `root`. It reads other processes only once, because reading all of
 * a busy machine is expensive; after some looks it reads them again, because ids are reused.
 */
function familyOf(root: number, proc: string): () => Seen[] {
  let strangers = new Set<string>();
  let looks = 0;
  return () => {
    if (looks++ % looksUntilReadAgain === 0) strangers.clear();
    const ids = readdirSync(proc).filter((name) => /^\d+$/.test(name));
    const children = Map.groupBy(
      ids.filter((id) => !strangers.has(id)).flatMap((id) => readProcess(id, proc)),
      ({ parent }) => parent,
    );
    const found: Seen[] = [];
    const parents = [root];
    for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
      for (const child of children.get(parent) ?? []) {
        found.push(child);
        parents.push(child.pid);
      }
    }
    const family = new Set(found.map(({ pid }) => String(pid)));
    strangers = new Set(ids.filter((id) => !family.has(id)));
    // A killed process remains briefly without memory.
    return found.filter(({ rssKb }) => rssKb > 0);
  };
}

function readProcess(id: string, proc: string): Seen[] {
  const text = read(proc, `${id}/stat`);
  // The program's name, in parentheses, may contain any character.
  const end = text.lastIndexOf(")");
  const [state, parent, ...rest] = text.slice(end + 2).split(" ");
  if (end === -1 || state === "Z" || state === "X") return [];
  return [
    {
      pid: Number(id),
      parent: Number(parent),
      name: text.slice(text.indexOf("(") + 1, end),
      startTicks: rest[17] ?? "",
      rssKb: Number(rest[19] ?? 0) * pageKb,
    },
  ];
}
