import type { Endpoint } from "@shoal/contract";
import { type HandlerCall, isStatusReply, readIdempotencyKey, ServiceError, withStatus } from "@shoal/router";
import type { ErrorBody } from "@shoal/schemas";
import { createHash } from "node:crypto";
import type { Access } from "../auth/access.ts";
import type { Secrets } from "../secrets.ts";

/** A request that holds a key longer than this is given up. One whose server died frees its key as soon as that is noticed. */
export const leaseMs = 120_000;

/** A request with an `Idempotency-Key`. */
export interface Claim {
  /** Bound to the API key: another caller must not be shown an answer that holds a secret. */
  readonly scope: string;
  readonly key: string;
  /** Tells one request from another. */
  readonly fingerprint: string;
}

/** What of a call tells one request from another. */
export type AnyCall = Pick<HandlerCall<Endpoint, Access>, "params" | "query" | "headers" | "context"> & { readonly body: unknown };

/** @returns `undefined` where the request has no key. @throws {ServiceError} 400 when it is no key. */
export function claimOf(endpoint: Endpoint, call: AnyCall): Claim | undefined {
  const key = readIdempotencyKey(call.headers["idempotency-key"]);
  if (key === undefined) return undefined;
  const { context } = call;
  const fingerprint = createHash("sha256")
    .update(JSON.stringify([endpoint.operationId, context.projectId, call.params, call.query, call.body ?? null]))
    .digest("base64url");
  return { scope: context.key.id, key, fingerprint };
}

/** What a request was answered. */
export type Outcome =
  | {
      readonly status: number;
      readonly value: unknown;
      /** The handler chose the status itself. */
      readonly chosen?: { readonly retryAfterSeconds?: number };
    }
  | { readonly status: number; readonly error: ErrorBody };

/** @param status - of the answer where the handler says none. */
export function outcomeOf(result: unknown, status: number): Outcome {
  if (!isStatusReply(result)) return { status, value: result };
  const { retryAfterSeconds, value } = result;
  return { status: result.status, value, chosen: retryAfterSeconds === undefined ? {} : { retryAfterSeconds } };
}

/** The same for a refusal that lasts. */
export function refusalOf(error: ServiceError): Outcome {
  return { status: error.status, error: error.toBody() };
}

/** Gives an answer again. @throws {ServiceError} where it was a refusal. */
export function replay(outcome: Outcome): unknown {
  if (!("error" in outcome)) return outcome.chosen === undefined ? outcome.value : withStatus(outcome.status, outcome.value, outcome.chosen);
  const { code, message, details, ...fields } = outcome.error;
  throw new ServiceError(outcome.status, code, message, { fields, ...(details && { details }) });
}

/** What tells a key from those of other callers. */
export function nameOf({ key, scope }: Claim): string {
  return `${scope}\0${key}`;
}

const purpose = (claim: Claim) => `${nameOf(claim)}\0${claim.fingerprint}`;

/** An answer as it is stored: it may hold a secret. */
export function sealOutcome(secrets: Secrets, claim: Claim, outcome: Outcome): Buffer {
  return secrets.seal(JSON.stringify(outcome), purpose(claim));
}

/** @throws {ServiceError} 409 when it cannot be read. */
export function unsealOutcome(secrets: Secrets, claim: Claim, sealed: Buffer): Outcome {
  const text = secrets.unseal(sealed, purpose(claim));
  if (text === undefined)
    throw conflict(
      claim.key,
      "belongs to an answer that this server cannot read: its secret_key has changed. Look whether the request took effect, and use a new key.",
    );
  // It was sealed above.
  return JSON.parse(text) as Outcome;
}

export function conflict(key: string, message: string): ServiceError {
  return new ServiceError(409, "idempotency_conflict", `Idempotency-Key ${JSON.stringify(key)} ${message}`);
}
