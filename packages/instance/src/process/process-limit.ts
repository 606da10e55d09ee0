import { readdirSync, readFileSync } from "node:fs";

/** A Node process starts about this many threads, and aborts when it cannot. */
const threadsOfNode = 16;
/** A process could not be started because the session, or the system, has no room for another. */
const exhausted: ReadonlySet<unknown> = new Set(["EAGAIN", "EMFILE", "ENFILE", "ENOMEM"]);

/**
 * Tells whether a Node process failed to start because of the limit on processes and threads.
 *
 * @param error - of the start; a process that started and then aborted has none with a code.
 */
export function isAtProcessLimit(error: unknown): boolean {
  if (error instanceof Error && "code" in error && exhausted.has(error.code)) return true;
  if (process.platform !== "linux") return false;
  try {
    const limit = /^Max processes +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return limit !== undefined && threads() + threadsOfNode > Number(limit);
  } catch {
    return false;
  }
}

/** Threads of all processes that this one sees; in a sandbox, those of the session. */
function threads(): number {
  let sum = 0;
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      // Field 20, counted after the program's name, which may contain spaces and parentheses.
      sum += Number(
        readFileSync(`/proc/${pid}/stat`, "utf8")
          .replace(/^.*\) /s, "")
          .split(" ")[17],
      );
    } catch {
      // It has ended.
    }
  }
  return sum;
}
