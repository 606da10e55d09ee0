import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { descendants, proportionalBytes } from "./processes.ts";
import type { BenchSizes, OpenBrowser, Side } from "./types.ts";

export interface Memory {
  readonly sessions: number;
  readonly mb_per_session: number;
  readonly sessions_per_gb: number;
}

/** What sessions left after their release. `null` = not measured. */
export interface Remains {
  readonly sessions: number;
  readonly processes: number | null;
  readonly files: number | null;
}

/** A service on this machine that keeps no warm browsers. */
export interface LocalService {
  readonly pid: number;
  readonly dataDir: string;
  /** Longest time in milliseconds for the removal of sandboxes. Default 60 s. */
  readonly settleMs?: number;
}

const lookMs = 100;

/** Measures sessions at rest, and what they leave. Linux only. */
export async function measureRest(
  service: LocalService,
  { resting, restMs }: BenchSizes,
  { side, signal }: { readonly side: Side; readonly signal: AbortSignal },
): Promise<{ readonly memory: Memory; readonly remains: Omit<Remains, "sessions"> }> {
  // The first session loads code and files that stay.
  await (await side.open()).close();
  const before = await lookWhile(service, ({ processes }) => processes > 0);
  const beforeBytes = usedBytes(service.pid);
  const open: OpenBrowser[] = [];
  try {
    await Promise.all(Array.from({ length: resting }, async () => open.push(await side.open())));
    await delay(restMs, undefined, { signal });
    const eachMb = (usedBytes(service.pid) - beforeBytes) / open.length / 2 ** 20;
    await Promise.all(open.splice(0).map((browser) => browser.close()));
    const after = await lookWhile(service, (now) => now.processes > before.processes || now.files > before.files);
    return {
      memory: {
        sessions: resting,
        mb_per_session: Math.round(eachMb * 10) / 10,
        sessions_per_gb: Math.round(10_240 / eachMb) / 10,
      },
      remains: {
        processes: Math.max(0, after.processes - before.processes),
        files: Math.max(0, after.files - before.files),
      },
    };
  } finally {
    await Promise.all(open.map((browser) => browser.close()));
  }
}

interface Look {
  readonly processes: number;
  readonly files: number;
}

/** The kernel removes a sandbox some time after the release. */
async function lookWhile(
  { dataDir, pid, settleMs = 60_000 }: LocalService,
  isUnsettled: (look: Look) => boolean,
): Promise<Look> {
  for (let waitedMs = 0; ; waitedMs += lookMs) {
    const look = { processes: boxesOf(pid).length, files: await filesIn(dataDir) };
    if (!isUnsettled(look) || waitedMs >= settleMs) return look;
    await delay(lookMs);
  }
}

/** The embedded database starts and ends processes at any time. */
function boxesOf(pid: number): { pid: number }[] {
  return descendants(pid).filter(({ command }) => !command.includes("postgres"));
}

function usedBytes(pid: number): number {
  let bytes = 0;
  for (const each of [{ pid }, ...boxesOf(pid)]) {
    try {
      bytes += proportionalBytes(each.pid);
    } catch {
      // It has ended.
    }
  }
  return bytes;
}

/** Session folders, and everything next to them. Folders may vanish meanwhile. */
async function filesIn(dataDir: string): Promise<number> {
  const sessions = join(dataDir, "sessions");
  const servers = await namesIn(sessions);
  const inside = await Promise.all(servers.map((name) => namesIn(join(sessions, name))));
  return servers.length + inside.flat().length;
}

async function namesIn(path: string): Promise<string[]> {
  return readdir(path).catch(() => []);
}
