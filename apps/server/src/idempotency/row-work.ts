import { contract, type Endpoint } from "@shoal/contract";
import { type Database, isOutdatedPlan } from "@shoal/database";
import { isLasting, keyOfAnotherRequest } from "@shoal/router";
import { createHash } from "node:crypto";
import { isUniqueViolation } from "../database-errors.ts";
import type { Log } from "../log.ts";
import type { Secrets } from "../secrets.ts";
import { type Claim, leaseMs, nameOf, type Outcome, outcomeOf, refusalOf, sealOutcome, unsealOutcome } from "./claim.ts";

/**
 * POSTs whose whole effect is rows. Their handlers run in the transaction that keeps the answer. So they do nothing else, but by `afterwards` of the
 * database; every query of theirs goes through its `query`; and none waits for a query of somebody else.
 */
const rowEndpoints: ReadonlySet<Endpoint> = new Set<Endpoint>([
  contract.createApiKey,
  contract.rotateApiKey,
  contract.createProfile,
  contract.cloneProfile,
  contract.rollbackProfile,
  contract.createProject,
  contract.createProxy,
  contract.createBrowserPool,
  contract.createOtlpDestination,
  contract.createAuditLogExportDestination,
]);

/** Whether the whole effect of an operation is rows, written by this server. @param region - of this server; others make pools of theirs. */
export function isRowWork(endpoint: Endpoint, body: unknown, region: string): boolean {
  if (!rowEndpoints.has(endpoint)) return false;
  return (
    endpoint !== contract.createBrowserPool ||
    typeof body !== "object" ||
    body === null ||
    !("region" in body) ||
    body.region === undefined ||
    body.region === region
  );
}

/** Carries out a request and keeps its answer in one transaction. */
export type RowWork = (
  claim: Claim,
  status: number,
  handle: () => unknown,
) => Promise<{ readonly value: unknown } | { readonly first: Outcome } | undefined>;

/** A lock that frees itself with the transaction, or with the connection of whoever dies in it. */
function lockOf(claim: Claim): string {
  return createHash("sha256").update(nameOf(claim)).digest().readBigInt64BE(0).toString();
}

/** As a literal that no setting of the server reads otherwise. */
const bytes = (value: Buffer) => `decode('${value.toString("hex")}', 'hex')`;
const text = (value: string) => `convert_from(${bytes(Buffer.from(value))}, 'UTF8')`;

interface KeptRow {
  readonly fingerprint: string;
  readonly status: number;
  readonly response: Buffer | null;
  readonly created_at: string;
}

/**
 * Three round trips and one commit around the handler's own, where claiming the key, doing the work and keeping the answer one after another were as
 * many and three commits. When the connection is lost, either all of it is in the database, and a repetition finds the answer, or nothing is.
 *
 * @returns the answer; or the `first` one, where there is one; or `undefined` while another request with the key runs.
 */
export function createRowWork(parts: {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly retentionMs: number;
  readonly serverId: string;
  readonly log: Log;
}): RowWork {
  const { database, secrets, retentionMs, serverId, log } = parts;

  async function once(claim: Claim, status: number, handle: () => unknown): ReturnType<RowWork> {
    const since = new Date();
    const named = `scope = ${text(claim.scope)} and key = ${text(claim.key)}`;
    return database.hold(async (connection) => {
      const [, [lock] = [], [row] = []] = await connection.send(
        `begin isolation level read committed; select pg_try_advisory_xact_lock(${lockOf(claim)}) as taken; select fingerprint, status, response, created_at from idempotency_keys where ${named}; savepoint shoal_work`,
      );
      // The columns that were asked for.
      const { taken } = lock as { readonly taken: boolean };
      if (!taken) return undefined;
      const kept = row as KeptRow | undefined;
      const ageMs = kept === undefined ? 0 : since.getTime() - Date.parse(kept.created_at);
      // A claim without an answer is that of a server of an earlier version, or of another kind of request.
      const isPast = kept !== undefined && (ageMs > retentionMs || (kept.status === 0 && ageMs > leaseMs && kept.fingerprint === claim.fingerprint));
      if (kept !== undefined && !isPast) {
        if (kept.fingerprint !== claim.fingerprint) throw keyOfAnotherRequest(claim.key);
        return kept.status === 0 || kept.response === null ? undefined : { first: unsealOutcome(secrets, claim, kept.response) };
      }
      const settle = async (outcome: Outcome, before = ""): Promise<void> => {
        const values = [
          text(claim.scope),
          text(claim.key),
          text(claim.fingerprint),
          String(outcome.status),
          bytes(sealOutcome(secrets, claim, outcome)),
          `'${since.toISOString()}'`,
          text(serverId),
        ].join(", ");
        const past = kept === undefined ? "" : `delete from idempotency_keys where ${named} and created_at = ${text(kept.created_at)}::timestamptz; `;
        await connection.send(
          `${before}${past}insert into idempotency_keys (scope, key, fingerprint, status, response, created_at, server_id) values (${values}); commit`,
        );
      };
      let value: unknown;
      try {
        value = await connection.share(handle);
      } catch (error) {
        if (isLasting(error)) {
          await settle(refusalOf(error), "rollback to savepoint shoal_work; ").catch((failure: unknown) => {
            log.warn({ err: failure }, "a refusal could not be kept for its idempotency key");
          });
        }
        throw error;
      }
      try {
        await settle(outcomeOf(value, status));
      } catch (error) {
        if (isUniqueViolation(error, "idempotency_keys_pkey")) return undefined;
        throw error;
      }
      return { value };
    });
  }

  return async (claim, status, handle) => {
    try {
      return await once(claim, status, handle);
    } catch (error) {
      // A migration of another server came in between. Nothing was done.
      if (!isOutdatedPlan(error)) throw error;
      return once(claim, status, handle);
    }
  };
}
