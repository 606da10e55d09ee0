import { isStatusReply, ServiceError, withStatus } from "@shoal/router";
import type { ErrorBody } from "@shoal/schemas";
import { sql } from "kysely";
import type { Secrets } from "../../storage/secrets.ts";

const leaseSeconds = 120;

/** SQL: the row is older than the retention, by the clock of the database, because those of servers differ. */
export const isPastRetention = (retentionMs: number) =>
  sql<boolean>`idempotency_keys.created_at < clock_timestamp() - make_interval(secs => ${sql.lit(retentionMs / 1000)})`;

/**
 * SQL: the request of the row has ended without an answer. A running server holds a claim until its request
 * ends, and looks for its own claims only while it runs no request with their key. Other servers free those of a dead server.
 */
export const isAbandoned = (serverId: string) =>
  sql<boolean>`(idempotency_keys.status = 0
    and idempotency_keys.created_at < clock_timestamp() - make_interval(secs => ${sql.lit(leaseSeconds)})
    and (idempotency_keys.server_id = ${sql.lit(serverId)}
      or not exists (select from servers where servers.id = idempotency_keys.server_id)))`;

export interface Claim {
  /** Contains the API key, because another caller must not see an answer that may contain a secret. */
  readonly scope: string;
  readonly key: string;
  readonly fingerprint: string;
}

export type Outcome =
  | {
      readonly status: number;
      readonly value: unknown;
      readonly chosen?: { readonly retryAfterSeconds?: number };
    }
  | { readonly status: number; readonly error: ErrorBody };

export function outcomeOf(result: unknown, status: number): Outcome {
  if (!isStatusReply(result)) return { status, value: result };
  const { retryAfterSeconds, value } = result;
  return { status: result.status, value, chosen: retryAfterSeconds === undefined ? {} : { retryAfterSeconds } };
}

export function refusalOf(error: ServiceError): Outcome {
  return { status: error.status, error: error.toBody() };
}

/** @throws {ServiceError} if the answer was a refusal. */
export function replay(outcome: Outcome): unknown {
  if (!("error" in outcome))
    return outcome.chosen === undefined ? outcome.value : withStatus(outcome.status, outcome.value, outcome.chosen);
  const { code, message, details, ...fields } = outcome.error;
  throw new ServiceError(outcome.status, code, message, { fields, ...(details && { details }) });
}

export function nameOf({ key, scope }: Claim): string {
  return `${scope}\0${key}`;
}

const purpose = (claim: Claim) => `${nameOf(claim)}\0${claim.fingerprint}`;

/** Sealed, because an answer may contain a secret. */
export function sealOutcome(secrets: Secrets, claim: Claim, outcome: Outcome): Buffer {
  return secrets.seal(JSON.stringify(outcome), purpose(claim));
}

export function unsealOutcome(secrets: Secrets, claim: Claim, sealed: Buffer): Outcome {
  const text = secrets.unsealStored(sealed, purpose(claim));
  if (text === undefined)
    throw conflict(
      claim.key,
      "belongs to an answer that this server cannot read: its secret_key has changed.",
      "Check whether the request took effect, then use a new key.",
    );
  return JSON.parse(text) as Outcome;
}

export function conflict(key: string, problem: string, hint?: string): ServiceError {
  return new ServiceError(409, "idempotency_conflict", `Idempotency-Key ${JSON.stringify(key)} ${problem}`, { hint });
}
