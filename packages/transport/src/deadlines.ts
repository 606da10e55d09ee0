/** Node fires a timer that is set further off at once. */
const maxTimerMs = 2_147_483_647;

/** Something that is to happen unless it is cleared first. */
export interface Deadline {
  /** By `performance.now()`; `Infinity` while there is no hurry. */
  at: number;
  readonly late: () => void;
}

// One timer for all: setting and clearing one of its own costs a call a tenth of its CPU in Node, where a loop without timers has to be
// told of the first and of the last. It stays set when its deadline is cleared, and finds nothing to do then.
const pending = new Set<Deadline>();
let timer: ReturnType<typeof setTimeout> | undefined;
let firesAt = Infinity;

/**
 * Calls a function in so many milliseconds, unless the deadline is cleared. It does not keep a process alive, which an open connection does.
 *
 * @param ms - any number, also more than the 24 days that a timer can wait.
 */
export function setDeadline(ms: number, late: () => void): Deadline {
  const deadline = { at: 0, late };
  moveDeadline(deadline, ms);
  return deadline;
}

/** Sets a deadline anew, whether it is over or not: each chunk of a transfer does. @param ms - from now; `Infinity` for never. */
export function moveDeadline(deadline: Deadline, ms: number): void {
  deadline.at = ms === Infinity ? ms : performance.now() + ms;
  // The timer drops it when it next looks: whoever gives up a download half-way may never clear it.
  if (ms === Infinity) return;
  pending.add(deadline);
  arm(deadline.at);
}

export function clearDeadline(deadline: Deadline | undefined): void {
  if (deadline !== undefined) pending.delete(deadline);
}

function arm(at: number): void {
  if (at >= firesAt) return;
  clearTimeout(timer);
  firesAt = at;
  // A timer may come a fraction of a millisecond early.
  timer = setTimeout(lookAtAll, Math.min(maxTimerMs, Math.max(0, Math.ceil(at - performance.now()))));
  // Web pages have numbers, which hold nothing up.
  (timer as { unref?: () => void }).unref?.();
}

function lookAtAll(): void {
  firesAt = Infinity;
  const now = performance.now();
  let next = Infinity;
  const late: Deadline[] = [];
  for (const deadline of pending) {
    if (deadline.at === Infinity) pending.delete(deadline);
    else if (deadline.at <= now) late.push(deadline);
    else next = Math.min(next, deadline.at);
  }
  if (next !== Infinity) arm(next);
  for (const deadline of late) if (pending.delete(deadline)) deadline.late();
}
