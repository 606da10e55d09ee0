import { processGroupsFile } from "@shoal/instance";
import { statOf } from "../host/process-table.ts";
import { readdir, readFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export const stateFolder = "state";

/** A session's processes inherit this limit of file locks, which Linux does not enforce, and cannot raise it. */
export function lockLimitOf(sessionDir: string): number {
  return Number.parseInt(basename(sessionDir), 16);
}

/**
 * Bubblewrap gets options from a descriptor, and the folder's name as last argument; CRIU gets the folder. Forkable boxes
 * do not end with them, so their children are strays too.
 */
function isBoxOf(sessionDir: string, command: Buffer): boolean {
  if (command.includes(`\0--root\0${sessionDir}/`)) return true;
  return command.includes("\0--args\0") && command.toString().endsWith(`\0${basename(sessionDir)}\0`);
}

const lingerMs = 2_000;

/** Kills and awaits processes that a session may have left and that began at `since` (ticks) or later. Linux only. */
export async function killStrays(sessionDir: string, since = 0): Promise<void> {
  if (process.platform !== "linux") return;
  const environment = Buffer.from(`SHOAL_SESSION_DIR=${sessionDir}\0`);
  const lockLimit = `Max file locks            ${String(lockLimitOf(sessionDir)).padEnd(20)} `;
  const profile = Buffer.from(`--user-data-dir=${sessionDir}/`);
  const own = statOf(process.pid)?.session;
  // The environment of sandboxed browser processes is unreadable, but they share the browser's `setsid` session.
  const sessions = new Set(await notedSessions(sessionDir, since > 0));
  const until = performance.now() + lingerMs;
  for (;;) {
    const young = (await readdir("/proc")).flatMap((name) => {
      const found = /^\d+$/.test(name) ? statOf(Number(name)) : undefined;
      return found !== undefined && found.startTicks >= since && found.pid !== process.pid ? [found] : [];
    });
    const marked = young.filter(({ pid }) => {
      const command = contentOf(pid, "cmdline");
      return (
        contentOf(pid, "environ").includes(environment) ||
        contentOf(pid, "limits").includes(lockLimit) ||
        command.includes(profile) ||
        isBoxOf(sessionDir, command)
      );
    });
    for (const { session } of marked) if (session !== own) sessions.add(session);
    const markedPids = new Set(marked.map(({ pid }) => pid));
    const strays = young.filter(
      ({ parentPid, pid, session }) => markedPids.has(pid) || markedPids.has(parentPid) || sessions.has(session),
    );
    if (strays.length === 0 || performance.now() > until) return;
    for (const { pid } of strays) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has just ended.
      }
    }
    await sleep(2);
  }
}

/** Omits reused ids. `thisBoot`: the ids are from this boot of the host; if not, the first process must still run. */
async function notedSessions(sessionDir: string, thisBoot: boolean): Promise<number[]> {
  const text = await readFile(join(sessionDir, stateFolder, processGroupsFile), "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => {
    const [pid = 0, startTicks = 0] = line.split(" ").map(Number);
    const present = statOf(pid);
    return pid > 1 && (present === undefined ? thisBoot : present.startTicks === startTicks) ? [pid] : [];
  });
}

function contentOf(pid: number, file: "environ" | "cmdline" | "limits"): Buffer {
  try {
    return readFileSync(`/proc/${pid}/${file}`);
  } catch {
    return Buffer.alloc(0);
  }
}
