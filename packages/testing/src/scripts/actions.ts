/** An invocation of an action in the fake. */
export interface FakeInvocation {
  readonly invocation_id: string;
  /** Aborted when the invocation is cancelled or reaches its timeout. */
  readonly signal: AbortSignal;
  /** Adds a line to the log. */
  log(line: string): void;
}

/**
 * The returned value becomes the output, as JSON; an exception fails the invocation.
 * @param payload - parsed; `undefined` if the request has none.
 */
export type FakeAction = (payload: unknown, invocation: FakeInvocation) => unknown;
