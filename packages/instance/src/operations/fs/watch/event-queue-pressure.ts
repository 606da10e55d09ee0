import { readFileSync } from "node:fs";

/**
 * Neither libuv nor Node reports that Linux dropped events above `max_queued_events`. An overflow shows as that many
 * events in one turn of the event loop; half of it counts, because events of closed watchers are not visible.
 */
const listeners = new Set<() => void>();
let threshold: number | undefined;
let inThisTurn = 0;
let last: SystemEvent | undefined;

export interface SystemEvent {
  readonly watcher: object;
  readonly kind: string;
  readonly name: string | null;
}

function readThreshold(): number {
  try {
    return (
      Math.max(1, Math.floor(Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "latin1")) / 2)) || 8192
    );
  } catch {
    // Other systems report an overflow as an event without a name.
    return Number.POSITIVE_INFINITY;
  }
}

function endTurn(): void {
  const seen = inThisTurn;
  inThisTurn = 0;
  last = undefined;
  threshold ??= readThreshold();
  if (seen >= threshold) for (const listener of listeners) listener();
}

export function noteSystemEvent(event: SystemEvent): void {
  // Several watchers of one directory report one kernel event, one after the other.
  const isEcho =
    last !== undefined && last.watcher !== event.watcher && last.kind === event.kind && last.name === event.name;
  last = event;
  // The check phase follows the phase that reads the queue.
  if (!isEcho && inThisTurn++ === 0) setImmediate(endTurn);
}

/** Calls back when events may have been lost, after the others were delivered. */
export function onPossibleLoss(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
