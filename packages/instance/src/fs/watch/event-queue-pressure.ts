import { readFileSync } from "node:fs";

/**
 * Notices when the kernel may have dropped events. Linux keeps at most `max_queued_events` unread events and drops what follows; neither libuv
 * nor Node passes its notice on. But the queue is read to its end in one go, so a queue that was full shows as that many events in one turn of
 * the event loop. Half of it counts already: some events are for watchers that are closed by now and are not seen.
 */
const listeners = new Set<() => void>();
let threshold: number | undefined;
let inThisTurn = 0;
let last: SystemEvent | undefined;

/** An event as `fs.watch` tells it. */
export interface SystemEvent {
  /** Stands for the watcher. */
  readonly watcher: object;
  readonly kind: string;
  /** A `byteName`. */
  readonly name: string | null;
}

function readThreshold(): number {
  try {
    return Math.max(1, Math.floor(Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "latin1")) / 2)) || 8192;
  } catch {
    // Not Linux: other systems report an overflow as an event without a name.
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

/** Called for each event that the system reports to any watcher of the process. */
export function noteSystemEvent(event: SystemEvent): void {
  // Several watchers of one directory are told of one event in the kernel's queue, one after the other.
  const isEcho = last !== undefined && last.watcher !== event.watcher && last.kind === event.kind && last.name === event.name;
  last = event;
  // The check phase comes after the phase in which the queue is read.
  if (!isEcho && inThisTurn++ === 0) setImmediate(endTurn);
}

/** Calls back whenever events may have been lost, after those that were not lost have been delivered. */
export function onPossibleLoss(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
