import { badInput, ServiceError } from "./service-error.ts";

/** Statuses that say nothing lasting about a request: its repetition must be tried anew. */
const passing = new Set([401, 408, 425, 429]);

/**
 * Whether a failure is the answer to a request for good, so that a repetition with the same `Idempotency-Key` gets it again: not those of status 500 and
 * above, and none that says when to come back.
 */
export function isLasting(error: unknown): error is ServiceError {
  return ServiceError.isInstance(error) && error.status < 500 && !passing.has(error.status) && error.retryAfterSeconds === undefined;
}

/**
 * The `Idempotency-Key` of a request; `undefined` where it has none.
 *
 * @throws {ServiceError} 400 `bad_request` when it is no key.
 */
export function readIdempotencyKey(header: string | readonly string[] | undefined): string | undefined {
  const key = typeof header === "string" ? header : header?.[0];
  if (key === undefined) return undefined;
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) throw badInput("headers.idempotency-key: expected 1 to 255 printable ASCII characters, a UUID for instance");
  return key;
}

/** The refusal of a key that came with another request before: 422 `idempotency_conflict`. */
export function keyOfAnotherRequest(key: string): ServiceError {
  return new ServiceError(
    422,
    "idempotency_conflict",
    `Idempotency-Key ${JSON.stringify(key)} was used for another request already. Use a new key for each new request.`,
  );
}
