import { isStatusReply, ServiceError, withStatus } from "@shoal/router";
import type { ErrorBody } from "@shoal/schemas";
import type { Secrets } from "../../storage/secrets.ts";

/** The other servers free the claims of a dead server earlier. */
export const leaseMs = 120_000;

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
  const text = secrets.unseal(sealed, purpose(claim));
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
