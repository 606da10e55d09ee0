import { eventuallyPasses } from "@shoal/testkit";
import { sql } from "kysely";
import { expect, it } from "vitest";
import type { DatabaseSuite } from "./suite.ts";

export function changeTests(suite: DatabaseSuite): void {
  it("notifies every server of changes soon after the commit", async () => {
    const url = await suite.server.createDatabase();
    const [writer, reader] = await Promise.all([suite.connect(url), suite.connect(url)]);
    const heard: string[] = [];
    const stop = reader.onChange((change) =>
      heard.push(change === undefined ? "lost" : `${change.table}:${change.id}`),
    );
    const own: unknown[] = [];
    writer.onChange((change) => own.push(change));
    writer.onChange(() => {
      throw new Error("a bad listener");
    });
    const { id: project_id } = await writer.query.selectFrom("projects").select("id").executeTakeFirstOrThrow();
    await writer.query
      .insertInto("profiles")
      .values({ id: "p1", project_id, name: "a", updated_at: null, last_used_at: null })
      .execute();
    await writer.query.updateTable("profiles").set({ name: "b" }).where("id", "=", "p1").execute();
    await writer.query.updateTable("profiles").set({ name: "b" }).where("id", "=", "p1").execute(); // changes nothing
    await writer.query.deleteFrom("profiles").where("id", "=", "p1").execute();
    await writer.query.updateTable("projects").set({ name: "renamed" }).execute();
    const expected = ["profiles:p1", "profiles:p1", "profiles:p1", `projects:${project_id}`];
    await eventuallyPasses(() => {
      expect(heard).toEqual(expected);
      expect(own).toHaveLength(4);
    });
    await writer.query
      .transaction()
      .execute(async (transaction) => {
        await transaction.updateTable("projects").set({ name: "never" }).execute();
        throw new Error("changed my mind");
      })
      .catch(() => undefined);
    stop();
    await writer.query.updateTable("projects").set({ name: "again" }).execute();
    await eventuallyPasses(() => {
      expect(own).toHaveLength(5);
    });
    expect(heard).toEqual(expected);
  });

  it("reports that changes may have been missed, and reconnects", async () => {
    const database = await suite.fresh();
    const heard: unknown[] = [];
    database.onChange((change) => heard.push(change?.table));
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and query like 'listen%'`.execute(
      database.query,
    );
    await eventuallyPasses(() => {
      expect(heard[0]).toBe(undefined);
      expect(heard).toHaveLength(2);
      expect(database.isListening()).toBe(true);
    });
    await database.query.updateTable("projects").set({ name: "renamed" }).execute();
    await eventuallyPasses(() => {
      expect(heard).toEqual([undefined, undefined, "projects"]);
    });
  });
}
