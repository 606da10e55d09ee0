import { type Database, outageOf, type Tables } from "@shoal/database";
import { isLasting } from "@shoal/router";
import { type Kysely, sql } from "kysely";
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
} from "./claim.ts";
import { createUnsettled, type Unsettled } from "./unsettled.ts";

export interface ClaimedWorkParts {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly retentionMs: number;
  readonly serverId: string;
  readonly log: Log;
}

/**
 * Runs requests with effects outside the database: claims the key before and stores the answer after. A server has one
 * request for a key at a time, so the key and the server identify a claim.
 */
export class ClaimedWork {
  readonly #query: Kysely<Tables>;
  readonly #parts: ClaimedWorkParts;
  readonly #unsettled: Unsettled;

  constructor(parts: ClaimedWorkParts) {
    this.#query = parts.database.query;
    this.#parts = parts;
    this.#unsettled = createUnsettled(parts.log);
  }

  /** @returns `undefined` while another request holds the key. */
  async run(claim: Claim, status: number, handle: () => unknown): Promise<{ readonly value: unknown } | undefined> {
    await this.#unsettled.settle(nameOf(claim));
    try {
      if (!(await this.#take(claim))) return undefined;
    } catch (error) {
      // The claim may have been stored despite the error.
      if (outageOf(error) !== undefined) this.#settleLater(claim, undefined);
      throw error;
    }
    let value: unknown;
    try {
      value = await handle();
    } catch (error) {
      await this.#settle(claim, isLasting(error) ? refusalOf(error) : undefined);
      throw error;
    }
    // Before the answer is sent, because a client that loses it may repeat the request at once.
    await this.#settle(claim, outcomeOf(value, status));
    return { value };
  }

  close(): void {
    this.#unsettled.close();
  }

  /** @returns false if another request holds the key. */
  async #take({ scope, key, fingerprint }: Claim): Promise<boolean> {
    const { retentionMs, serverId: server_id } = this.#parts;
    const created_at = sql<string>`clock_timestamp()`;
    const taken = await this.#query
      .insertInto("idempotency_keys")
      .values({ scope, key, fingerprint, status: 0, response: null, created_at, server_id })
      .onConflict((conflicting) =>
        conflicting
          .columns(["scope", "key"])
          .doUpdateSet({ fingerprint, status: 0, response: null, created_at, server_id })
          .where((where) =>
            where.or([
              isPastRetention(retentionMs),
              where.and([isAbandoned(server_id), where("idempotency_keys.fingerprint", "=", fingerprint)]),
            ]),
          ),
      )
      .returning("key")
      .executeTakeFirst();
    return taken !== undefined;
  }

  /** Stores a permanent answer, or frees the key; repeats this later if the database fails. */
  async #settle(claim: Claim, outcome: Outcome | undefined): Promise<void> {
    try {
      await this.#write(claim, outcome);
    } catch (error) {
      this.#parts.log.warn({ err: error }, "an idempotency key could not be settled; it is tried again");
      this.#settleLater(claim, outcome);
    }
  }

  #settleLater(claim: Claim, outcome: Outcome | undefined): void {
    this.#unsettled.add(nameOf(claim), () => this.#write(claim, outcome));
  }

  async #write(claim: Claim, outcome: Outcome | undefined): Promise<void> {
    if (outcome === undefined) await this.#free(claim);
    else await this.#store(claim, outcome);
  }

  /** Keeps a stored answer. */
  async #free({ key, scope }: Claim): Promise<void> {
    await this.#query
      .deleteFrom("idempotency_keys")
      .where("scope", "=", scope)
      .where("key", "=", key)
      .where("server_id", "=", this.#parts.serverId)
      .where("status", "=", 0)
      .execute();
  }

  async #store(claim: Claim, outcome: Outcome): Promise<void> {
    await this.#query
      .updateTable("idempotency_keys")
      .set({ status: outcome.status, response: sealOutcome(this.#parts.secrets, claim, outcome) })
      .where("scope", "=", claim.scope)
      .where("key", "=", claim.key)
      .where("server_id", "=", this.#parts.serverId)
      .where("status", "=", 0)
      .execute();
  }
}
