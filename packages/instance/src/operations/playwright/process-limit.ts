import { readdirSync, readFileSync } from "node:fs";
import { messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";

/** Node aborts when it cannot start its threads. */
const threadsOfNode = 16;
const exhausted: ReadonlySet<unknown> = new Set(["EAGAIN", "EMFILE", "ENFILE", "ENOMEM"]);

/** Longest start of a process for code, in milliseconds: loading its libraries takes under a second on a machine with free processors. */
export const startTimeoutMs = 30_000;

/**
 * 503 for a start that was ended at its limit, 429 at the session's limit of processes, else 500.
 * @param problem - such as "The REPL cannot be started".
 */
export function processStartError(
  problem: string,
  { error, isLate }: { readonly error: unknown; readonly isLate: boolean },
): ServiceError {
  if (isLate)
    return new ServiceError(
      503,
      "overloaded",
      `${problem}: its process did not start within ${String(startTimeoutMs / 1000)} s. The machine of the session is busy.`,
      { cause: error, retryAfterSeconds: 5 },
    );
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return isAtProcessLimit(cause)
    ? new ServiceError(
        429,
        "too_many_processes",
        `${problem}: the session has reached its limit of processes, threads or memory.`,
        { hint: "End some of its processes.", cause: error },
      )
    : new ServiceError(500, "internal_error", `${problem}: ${messageOf(error)}.`, { cause: error });
}

/** @param error - of the start; without a code when the process aborted after its start. */
function isAtProcessLimit(error: unknown): boolean {
  if (error instanceof Error && "code" in error && exhausted.has(error.code)) return true;
  if (process.platform !== "linux") return false;
  try {
    const limit = /^Max processes +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return limit !== undefined && threads() + threadsOfNode > Number(limit);
  } catch {
    return false;
  }
}

/** Counts the threads of all visible processes; in a sandbox, those of the session. */
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
      // The process has ended.
    }
  }
  return sum;
}
