import { contract, type Endpoint } from "@shoal/contract";
import { type Database, isOutdatedPlan } from "@shoal/database";
import { isLasting, keyOfAnotherRequest } from "@shoal/router";
import { createHash } from "node:crypto";
import { isUniqueViolation } from "../../storage/errors/database-errors.ts";
import type { Log } from "../../log/log.ts";
import type { Secrets } from "../../storage/secrets.ts";
import {
  type Claim,
  isAbandoned,
  isPastRetention,
  nameOf,
  type Outcome,
  outcomeOf,
  refusalOf,
  sealOutcome,
  unsealOutcome,
} from "./claim.ts";

/**
 * The operation only changes rows, on this server: its handler runs in the transaction that stores the answer. Queries
 * use the database's `query`; other effects wait for `afterwards`.
 * @param region - of this server; other regions create their own pools.
 */
export function isRowWork(endpoint: Endpoint, body: unknown, region: string): boolean {
  if (endpoint.idempotency !== "transaction") return false;
  return (
    endpoint !== contract.createBrowserPool ||
    typeof body !== "object" ||
    body === null ||
    !("region" in body) ||
    body.region === undefined ||
    body.region === region
  );
}

export type RowWork = (
  claim: Claim,
  status: number,
  handle: () => unknown,
) => Promise<{ readonly value: unknown } | { readonly first: Outcome } | undefined>;

/** PostgreSQL releases the lock with the transaction or the connection. */
function lockOf(claim: Claim): string {
  return createHash("sha256").update(nameOf(claim)).digest().readBigInt64BE(0).toString();
}

/** Independent of the database's settings. */
const bytes = (value: Buffer) => `decode('${value.toString("hex")}', 'hex')`;
const text = (value: string) => `convert_from(${bytes(Buffer.from(value))}, 'UTF8')`;

interface KeptRow {
  readonly fingerprint: string;
  readonly status: number;
  readonly response: Buffer | null;
  readonly created_at: string;
  readonly is_past: boolean;
  readonly is_abandoned: boolean;
}

/**
 * Costs three round trips and one commit, instead of three commits. After a lost connection, the database has both
 * effect and answer, or neither.
 * @returns the answer; the `first` one if it exists; `undefined` while another request holds the key.
 */
export function createRowWork(parts: {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly retentionMs: number;
  readonly serverId: string;
  readonly log: Log;
}): RowWork {
  const { database, secrets, retentionMs, serverId, log } = parts;
  const isPast = isPastRetention(retentionMs).compile(database.query).sql;
  const isLost = isAbandoned(serverId).compile(database.query).sql;

  async function once(claim: Claim, status: number, handle: () => unknown): ReturnType<RowWork> {
    const named = `scope = ${text(claim.scope)} and key = ${text(claim.key)}`;
    return database.hold(async (connection) => {
      const [, [lock] = [], [row] = []] = await connection.send(
        `begin isolation level read committed; select pg_try_advisory_xact_lock(${lockOf(claim)}) as taken; select fingerprint, status, response, created_at, ${isPast} as is_past, ${isLost} as is_abandoned from idempotency_keys where ${named}; savepoint shoal_work`,
      );
      const { taken } = lock as { readonly taken: boolean };
      if (!taken) return undefined;
      const kept = row as KeptRow | undefined;
      // A claim without an answer belongs to claimed work.
      const isOver = kept?.is_past === true || (kept?.is_abandoned === true && kept.fingerprint === claim.fingerprint);
      if (kept !== undefined && !isOver) {
        if (kept.fingerprint !== claim.fingerprint) throw keyOfAnotherRequest(claim.key);
        return kept.status === 0 || kept.response === null
          ? undefined
          : { first: unsealOutcome(secrets, claim, kept.response) };
      }
      const settle = async (outcome: Outcome, before = ""): Promise<void> => {
        const values = [
          text(claim.scope),
          text(claim.key),
          text(claim.fingerprint),
          String(outcome.status),
          bytes(sealOutcome(secrets, claim, outcome)),
          "clock_timestamp()",
          text(serverId),
        ].join(", ");
        const past =
          kept === undefined
            ? ""
            : `delete from idempotency_keys where ${named} and created_at = ${text(kept.created_at)}::timestamptz; `;
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
      // The migration of another server intervened. Nothing was written.
      if (!isOutdatedPlan(error)) throw error;
      return once(claim, status, handle);
    }
  };
}
