import type { Endpoint } from "@shoal/contract";
import { createHash } from "node:crypto";
import type { AnyCall, AnyHandler, Handler } from "../handler/handler.ts";
import { badInput, ServiceError } from "../handler/service-error.ts";

/** A call with an `Idempotency-Key`. */
export interface KeyedCall<Context> {
  readonly endpoint: Endpoint;
  readonly key: string;
  /** Hash of the operation and the request; equal for a repetition. */
  readonly fingerprint: string;
  readonly call: AnyCall<Context>;
}

/** Remembers answers by their key. */
export interface IdempotencyStore<Context> {
  /**
   * Returns the answer of the first call with the key, which may still be running.
   * @param handle - does the work. `signal` replaces the call's own.
   * @throws {ServiceError} 422 `idempotency_conflict` if the key belongs to another request.
   */
  answer(call: KeyedCall<Context>, handle: (signal?: AbortSignal) => unknown): Promise<unknown>;
  /** The part of the context that distinguishes requests, such as the project. */
  fingerprintOf?(context: Context): string;
}

/** Whether an operation is a POST whose repetition returns the first answer. */
export function isRepeatable({ idempotency = "answer", method }: Endpoint): boolean {
  return method === "POST" && typeof idempotency === "string";
}

/** Wraps a handler so that calls with the same `Idempotency-Key` do the work once. */
export function repeatable<E extends Endpoint, Context>(
  endpoint: E,
  handler: Handler<E, Context>,
  store: IdempotencyStore<Context>,
): Handler<E, Context> {
  if (!isRepeatable(endpoint)) return handler;
  // The fingerprint includes the operation, so remembered answers have its type.
  return rememberAnswers(endpoint, handler as unknown as AnyHandler<Context>, store) as unknown as Handler<E, Context>;
}

function rememberAnswers<Context>(
  endpoint: Endpoint,
  handler: AnyHandler<Context>,
  store: IdempotencyStore<Context>,
): AnyHandler<Context> {
  return async (call) => {
    const key = readIdempotencyKey(call.headers["idempotency-key"]);
    if (key === undefined) return handler(call);
    const { body, context, params, query } = call;
    const parts = [endpoint.operationId, store.fingerprintOf?.(context) ?? null, params, query, body ?? null];
    const fingerprint = createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
    return store.answer({ endpoint, key, fingerprint, call }, (signal) =>
      handler(signal === undefined ? call : { ...call, signal }),
    );
  };
}

/** Statuses of temporary refusals: a repetition is tried again. */
const passing = new Set([401, 408, 425, 429]);

/**
 * Whether repetitions with the same `Idempotency-Key` receive this failure too. False with `Retry-After`, and from status
 * 500 except `outcome_unknown`: that work may have been done.
 */
export function isLasting(error: unknown): error is ServiceError {
  return (
    ServiceError.isInstance(error) &&
    (error.status < 500 || error.code === "outcome_unknown") &&
    !passing.has(error.status) &&
    error.retryAfterSeconds === undefined
  );
}

/** @throws {ServiceError} 400 `bad_request` for an invalid key. */
function readIdempotencyKey(header: string | readonly string[] | undefined): string | undefined {
  const key = typeof header === "string" ? header : header?.[0];
  if (key === undefined) return undefined;
  if (!/^[\x20-\x7e]{1,255}$/.test(key))
    throw badInput("headers.idempotency-key", "expected 1 to 255 printable ASCII characters, for instance a UUID", {
      limit: 255,
    });
  return key;
}

/** 422 `idempotency_conflict`. */
export function keyOfAnotherRequest(key: string): ServiceError {
  return new ServiceError(
    422,
    "idempotency_conflict",
    `Idempotency-Key ${JSON.stringify(key)} was already used for another request.`,
    { hint: "Use a new key for each new request." },
  );
}
