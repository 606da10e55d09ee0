import { type Database, outageOf } from "@shoal/database";
import { isLasting } from "@shoal/router";
import type { Log } from "../log.ts";
import type { Secrets } from "../secrets.ts";
import { type Claim, leaseMs, nameOf, type Outcome, outcomeOf, refusalOf, sealOutcome } from "./claim.ts";
import { createUnsettled } from "./unsettled.ts";

/** Carries out a request that does more than rows: its key is claimed before, and the answer kept after it. */
export interface ClaimedWork {
  /** @returns `undefined` while another request has the key. */
  readonly run: (claim: Claim, status: number, handle: () => unknown) => Promise<{ readonly value: unknown } | undefined>;
  close(): void;
}

export function createClaimedWork(parts: {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly retentionMs: number;
  readonly serverId: string;
  readonly log: Log;
}): ClaimedWork {
  const {
    database: { query },
    secrets,
    retentionMs,
    serverId,
    log,
  } = parts;
  const unsettled = createUnsettled(log);
  const at = (ageMs: number) => new Date(Date.now() - ageMs).toISOString();

  /** Makes the key this request's own, from the moment `created_at`, which names this claim. @returns whether it is; another may hold it. */
  async function take({ scope, key, fingerprint }: Claim, created_at: string): Promise<boolean> {
    const taken = await query
      .insertInto("idempotency_keys")
      .values({ scope, key, fingerprint, status: 0, response: null, created_at, server_id: serverId })
      .onConflict((conflicting) =>
        conflicting
          .columns(["scope", "key"])
          .doUpdateSet({ fingerprint, status: 0, response: null, created_at, server_id: serverId })
          .where((where) =>
            where.or([
              where("idempotency_keys.created_at", "<", at(retentionMs)),
              where.and([
                where("idempotency_keys.status", "=", 0),
                where("idempotency_keys.created_at", "<", at(leaseMs)),
                where("idempotency_keys.fingerprint", "=", fingerprint),
              ]),
            ]),
          ),
      )
      .returning("key")
      .executeTakeFirst();
    return taken !== undefined;
  }

  /** Keeps the answer, or frees the key where there is none that lasts. What was kept already stays. */
  async function write(claim: Claim, since: string, outcome: Outcome | undefined): Promise<void> {
    const { key, scope } = claim;
    if (outcome === undefined)
      await query
        .deleteFrom("idempotency_keys")
        .where("scope", "=", scope)
        .where("key", "=", key)
        .where("created_at", "=", since)
        .where("status", "=", 0)
        .execute();
    else
      await query
        .updateTable("idempotency_keys")
        .set({ status: outcome.status, response: sealOutcome(secrets, claim, outcome) })
        .where("scope", "=", scope)
        .where("key", "=", key)
        .where("created_at", "=", since)
        .execute();
  }

  function later(claim: Claim, since: string, outcome: Outcome | undefined): void {
    unsettled.add(nameOf(claim), () => write(claim, since, outcome));
  }

  async function settle(claim: Claim, since: string, outcome: Outcome | undefined): Promise<void> {
    try {
      await write(claim, since, outcome);
    } catch (error) {
      log.warn({ err: error }, "an idempotency key could not be settled; it is tried again");
      later(claim, since, outcome);
    }
  }

  return {
    async run(claim, status, handle) {
      await unsettled.settle(nameOf(claim));
      const since = new Date().toISOString();
      try {
        if (!(await take(claim, since))) return undefined;
      } catch (error) {
        // It may have been taken all the same.
        if (outageOf(error) !== undefined) later(claim, since, undefined);
        throw error;
      }
      let value: unknown;
      try {
        value = await handle();
      } catch (error) {
        await settle(claim, since, isLasting(error) ? refusalOf(error) : undefined);
        throw error;
      }
      // Before the answer goes out: a client that loses it may ask again at once.
      await settle(claim, since, outcomeOf(value, status));
      return { value };
    },
    close: () => {
      unsettled.close();
    },
  };
}
