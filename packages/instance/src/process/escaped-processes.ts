import { descendantsOf, type ProcessEntry, readOrEmpty } from "./process-entries.ts";

/** Environment variable of a command and all that it starts. */
export const commandMark = "SHOAL_COMMAND";

/** A command that was started. */
export interface StartedCommand {
  readonly pid: number;
  /** Value of {@link commandMark} in its environment. */
  readonly mark: string;
  /** Clock ticks from the boot of the host to its start. */
  readonly startTicks: number;
}

/** Whether a process belongs to this session at all. */
export type InSession = (pid: number) => boolean;

/**
 * Finds processes of a command that have lost their parent and left its session (in the sense of `setsid`): daemons. They carry the command's mark, or have a
 * parent that does. A process that has erased its environment is taken for the command's when it was started after the command. It may then be the daemon
 * of another command that ran at the same time and has erased its environment as well.
 *
 * @param unmarked - whether processes without any command's mark count.
 */
export function findEscaped(
  command: StartedCommand,
  all: readonly ProcessEntry[],
  { unmarked, inSession }: { readonly unmarked: boolean; readonly inSession: InSession },
): ProcessEntry[] {
  const own = new Set([process.pid, ...descendantsOf(process.pid, all)]);
  const candidates = new Map(
    all.filter(({ pid, startTicks }) => startTicks >= command.startTicks && !own.has(pid)).map((entry) => [entry.pid, entry]),
  );
  const markWithParents = (entry: ProcessEntry): string | undefined => {
    // A parent is older than its child, so this ends.
    const parent = candidates.get(entry.parent);
    return markOf(entry.pid) ?? (parent === undefined ? undefined : markWithParents(parent));
  };
  return [...candidates.values()].filter((entry) => {
    const mark = markWithParents(entry);
    return mark === undefined ? unmarked && inSession(entry.pid) : mark === command.mark;
  });
}

/**
 * Tells which processes belong to this session. In a box all do. Elsewhere the placement gives the instance a limit on file locks that no other session has,
 * which Linux does not enforce, and which all its processes inherit: they can erase their environment, but not raise a limit.
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
