/** What the webhooks of a project last heard about a pool; `new` before its first browser. */
export type PoolCondition = "new" | "filled" | "empty" | "failing";

export interface PoolCounts {
  readonly size: number;
  readonly available: number;
  readonly acquired: number;
}

/** @param isPaused - true while browsers of the pool fail to start. */
export function nextCondition(
  before: PoolCondition,
  { acquired, available, size }: PoolCounts,
  isPaused: boolean,
): PoolCondition {
  if (size === 0) return before;
  if (isPaused && available + acquired < size) return "failing";
  if (available === 0) return before === "filled" ? "empty" : before;
  return available + acquired >= size ? "filled" : before;
}
