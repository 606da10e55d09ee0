import { descendantsOf, type ProcessEntry, readOrEmpty } from "./process-entries.ts";

/** Environment variable that marks a command and its descendants. */
export const commandMark = "SHOAL_COMMAND";

export interface StartedCommand {
  readonly pid: number;
  readonly mark: string;
  readonly startTicks: number;
}

export type InSession = (pid: number) => boolean;

/**
 * Processes that left a command's tree and `setsid` session, by their or their parent's mark. With `unmarked`, also
 * younger processes that erased their environment, possibly of another command.
 */
export function findEscaped(
  command: StartedCommand,
  all: readonly ProcessEntry[],
  { unmarked, inSession }: { readonly unmarked: boolean; readonly inSession: InSession },
): ProcessEntry[] {
  const own = new Set([process.pid, ...descendantsOf(process.pid, all)]);
  const candidates = new Map(
    all
      .filter(({ pid, startTicks }) => startTicks >= command.startTicks && !own.has(pid))
      .map((entry) => [entry.pid, entry]),
  );
  const markWithParents = (entry: ProcessEntry): string | undefined => {
    // Ends, because a parent is older than its child.
    const parent = candidates.get(entry.parent);
    return markOf(entry.pid) ?? (parent === undefined ? undefined : markWithParents(parent));
  };
  return [...candidates.values()].filter((entry) => {
    const mark = markWithParents(entry);
    return mark === undefined ? unmarked && inSession(entry.pid) : mark === command.mark;
  });
}

/**
 * In a box, all processes belong to the session. Elsewhere they inherit a unique limit of file locks, which Linux does
 * not enforce; a process can erase its environment, but not raise a limit.
 */
export function sessionMembership(isBox: boolean): InSession {
  if (isBox) return () => true;
  const own = lockLimitOf("self");
  return (pid) => own !== undefined && lockLimitOf(pid) === own;
}

function markOf(pid: number): string | undefined {
  return new RegExp(`(?:^|\\0)${commandMark}=([^\\0]*)`).exec(readOrEmpty(`/proc/${String(pid)}/environ`))?.[1];
}

function lockLimitOf(pid: number | "self"): string | undefined {
  return /^Max file locks\s+(\d+)\s/m.exec(readOrEmpty(`/proc/${String(pid)}/limits`))?.[1];
}
