/** Explanation of a code, for callers. */
export interface ErrorCodeEntry {
  /** Statuses of the code; empty if it appears only in `details`. */
  readonly statuses: readonly number[];
  /** The cause, as a sentence. */
  readonly meaning: string;
  /**
   * Whether the same request can succeed: `no` without a change, `soon` in a moment, `later` when something else
   * has ended that is in use now.
   */
  readonly again: "no" | "soon" | "later";
  /** The next step, as a sentence. */
  readonly advice: string;
}
