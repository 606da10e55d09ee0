/** Node fires timers with a longer delay immediately. */
const maxTimerMs = 2_147_483_647;

/** A timeout, unless it is cleared first. */
export interface Deadline {
  /** In terms of `performance.now()`; `Infinity` while inactive. */
  at: number;
  readonly late: () => void;
}

// One timer for all deadlines: a timer per chunk of a transfer would cost more than the chunk. It stays set when its
// deadline is cleared, and then does nothing.
const pending = new Set<Deadline>();
let timer: ReturnType<typeof setTimeout> | undefined;
let firesAt = Infinity;

/** Does not keep the process alive. @param ms - any number; more than the 24 days of a Node timer is allowed. */
export function setDeadline(ms: number, late: () => void): Deadline {
  const deadline = { at: 0, late };
  moveDeadline(deadline, ms);
  return deadline;
}

/** Also for an expired deadline. @param ms - from now; `Infinity` for never. */
export function moveDeadline(deadline: Deadline, ms: number): void {
  deadline.at = ms === Infinity ? ms : performance.now() + ms;
  // The next run of the timer removes it, in case an abandoned download never clears it.
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
  // In web pages timers are numbers without `unref`.
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
