const marker = Symbol.for("shoal.router.StatusReply");

/** A handler's result with an explicit status. */
export interface StatusReply<Status extends number = number, Value = unknown> {
  readonly [marker]: true;
  readonly status: Status;
  readonly value: Value;
  /** Sent as `Retry-After`, rounded up to whole seconds. */
  readonly retryAfterSeconds: number | undefined;
}

/**
 * Selects the status of an answer, for endpoints with several successes.
 * @param value - the body of that status; `undefined` if it has none.
 * @param options - `retryAfterSeconds`: when to repeat the request, for a 202.
 */
export function withStatus<const Status extends number, Value>(
  status: Status,
  value: Value,
  options: { readonly retryAfterSeconds?: number } = {},
): StatusReply<Status, Value> {
  return { [marker]: true, status, value, retryAfterSeconds: options.retryAfterSeconds };
}

/** Whether a handler's result has an explicit status. */
export function isStatusReply(result: unknown): result is StatusReply {
  return typeof result === "object" && result !== null && marker in result;
}
