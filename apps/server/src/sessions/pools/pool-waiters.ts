import type { Database, Tables } from "@shoal/database";
import { type Kysely, sql } from "kysely";

/** The rows of callers that wait for a browser, on every server, in the order of their requests. */
export class PoolWaiters {
  readonly #query: Kysely<Tables>;

  constructor({ query }: Database) {
    this.#query = query;
  }

  /** @param waiter.ms - until it expires, by the clock of the database. */
  async add({
    ms,
    ...waiter
  }: {
    readonly id: string;
    readonly pool_id: string;
    readonly server_id: string;
    readonly ms: number;
  }): Promise<void> {
    const expires_at = sql<string>`clock_timestamp() + make_interval(secs => ${ms / 1000})`;
    await this.#query
      .insertInto("browser_pool_waiters")
      .values({ ...waiter, expires_at })
      .execute();
  }

  /** @returns false if it was no longer waiting. */
  async remove(id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#query
      .deleteFrom("browser_pool_waiters")
      .where("id", "=", id)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  /** Deletes callers that have expired or waited on servers that are gone. @param serverId - also all of this server. */
  async removeLost(serverId?: string): Promise<void> {
    await this.#query
      .deleteFrom("browser_pool_waiters")
      .where((where) =>
        where.or([
          where("expires_at", "<", sql<string>`now()`),
          where("server_id", "not in", where.selectFrom("servers").select("id")),
          ...(serverId === undefined ? [] : [where("server_id", "=", serverId)]),
        ]),
      )
      .execute();
  }
}
