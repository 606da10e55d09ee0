const marker = Symbol.for("shoal.router.StatusReply");

/** A handler's answer that says its status. */
export interface StatusReply<Status extends number = number, Value = unknown> {
  readonly [marker]: true;
  readonly status: Status;
  readonly value: Value;
  /** Sent as `Retry-After`, rounded up to whole seconds. */
  readonly retryAfterSeconds: number | undefined;
}

/**
 * Chooses the status of an answer, where the endpoint declares several.
 *
 * @param value - what that status answers with; `undefined` where it has no body.
 * @param options - `retryAfterSeconds`: when to come back, for a 202 that is to be asked for again.
 */
export function withStatus<const Status extends number, Value>(
  status: Status,
  value: Value,
  options: { readonly retryAfterSeconds?: number } = {},
): StatusReply<Status, Value> {
  return { [marker]: true, status, value, retryAfterSeconds: options.retryAfterSeconds };
}

/** Whether a handler's result says its status; for code that goes round handlers. */
export function isStatusReply(result: unknown): result is StatusReply {
  return typeof result === "object" && result !== null && marker in result;
}
