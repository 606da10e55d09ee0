import { eventuallyPasses } from "@shoal/testkit";
import { sql } from "kysely";
import { expect, it } from "vitest";
import type { DatabaseSuite } from "./suite.ts";

export function connectionTests(suite: DatabaseSuite): void {
  it("recovers after all connections were cut, in use or idle", async () => {
    const database = await suite.fresh();
    const cut = database.query.transaction().execute(async (transaction) => {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`.execute(
        database.query,
      );
      await sql`select 1`.execute(transaction);
    });
    await expect(cut).rejects.toThrow();
    await eventuallyPasses(async () => {
      expect(await database.query.selectFrom("projects").select("name").execute()).toEqual([{ name: "default" }]);
    });
  });

  it("repeats a prepared query whose columns a migration changed", async () => {
    const { query } = await suite.fresh();
    const all = () => query.selectFrom("projects").selectAll().where("is_default", "=", true).execute();
    expect(Object.keys((await all())[0] ?? {})).not.toContain("colour");
    const { rows } = await sql<{
      count: number;
    }>`select count(*) as count from pg_prepared_statements where name like 'shoal_%'`.execute(query);
    expect(rows[0]?.count).toBeGreaterThan(0);
    await sql`alter table projects add colour text`.execute(query);
    expect(Object.keys((await all())[0] ?? {})).toContain("colour");
    await sql`alter table projects drop colour`.execute(query);
    const inTransaction = query
      .transaction()
      .execute((transaction) =>
        transaction.selectFrom("projects").selectAll().where("is_default", "=", true).execute(),
      );
    // The failure ends a transaction, but must not repeat in the next one.
    await inTransaction.catch(() => undefined);
    expect(
      await query
        .transaction()
        .execute((transaction) =>
          transaction.selectFrom("projects").selectAll().where("is_default", "=", true).execute(),
        ),
    ).toHaveLength(1);
  });

  it("limits the time of queries and of idle transactions", async () => {
    const database = await suite.fresh();
    const { rows } = await sql<
      Record<string, string>
    >`select current_setting('statement_timeout') as statement, current_setting('idle_in_transaction_session_timeout') as idle`.execute(
      database.query,
    );
    expect(rows[0]).toEqual({ statement: "30s", idle: "1min" });
  });
}
