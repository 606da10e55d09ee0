import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { containsFolded, type Database, DatabaseError, folded, openDatabase } from "../index.ts";
import { migrations } from "../migrations/all.ts";
import { recordingLog } from "./logs.ts";
import { startHolder } from "./processes.ts";
import { runOn, type TestServer, unusedPort } from "./servers.ts";

const log = recordingLog();
const open: Database[] = [];

async function connect(url: string): Promise<Database> {
  const database = await openDatabase({ url, dataDir: "/nowhere", log });
  open.push(database);
  return database;
}

/** What the opening of a database fails with. */
export async function refusal(url: string): Promise<DatabaseError> {
  const result = await openDatabase({ url, dataDir: "/nowhere", log }).catch((error: unknown) => error);
  if (DatabaseError.isInstance(result)) return result;
  throw result instanceof Error ? result : new Error("the database was opened");
}

/** What holds on every PostgreSQL that Shoal takes. */
export function databaseSuite(start: () => Promise<TestServer>): void {
  let server: TestServer;

  beforeAll(async () => {
    server = await start();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((database) => database.close()));
  });
  afterAll(async () => {
    await server.stop();
  });

  async function fresh(): Promise<Database> {
    return await connect(await server.createDatabase());
  }

  it("is opened by four processes at once, and each migration runs once", async () => {
    const url = await server.createDatabase();
    const holders = [1, 2, 3, 4].map(() => startHolder({ dataDir: "", url }));
    const reports = await Promise.all(holders.map((holder) => holder.report));
    const projects = reports.map((report) => (report.ok ? report.projects : [report.message]));
    expect(new Set(projects.flat()).size).toBe(1);
    expect(projects.map((list) => list.length)).toEqual([1, 1, 1, 1]);
    const { query } = await connect(url);
    const { rows } = await sql<{ id: string }>`select id from shoal_migrations order by id`.execute(query);
    expect(rows.map(({ id }) => id)).toEqual(migrations.map(({ id }) => id));
    await Promise.all(holders.map((holder) => holder.close()));
  });

  it("keeps and returns values as the wire has them", async () => {
    const { query } = await fresh();
    const { id: project_id } = await query.selectFrom("projects").select("id").where("is_default", "=", true).executeTakeFirstOrThrow();
    const tags = { team: "qa", "a b": "=+@" };
    const viewport = { width: 1280, height: 720 };
    const session = { project_id, name: "one", placement: "sandbox", server_id: "s1", timeout_seconds: 60, headless: true, stealth: false };
    await query
      .insertInto("sessions")
      .values({ ...session, id: "b1", tags, viewport, start_url: null, created_at: "2026-01-31T12:00:00.123Z", ended_at: null, ended_reason: null })
      .execute();
    const row = await query.selectFrom("sessions").selectAll().where("id", "=", "b1").executeTakeFirstOrThrow();
    expect(row).toMatchObject({
      ...session,
      ...{
        id: "b1",
        name_folded: "one",
        tags,
        viewport,
        start_url: null,
        created_at: "2026-01-31T12:00:00.123Z",
        proxy: null,
        pool_id: null,
        pool_name: null,
        pool_state: null,
        profile_id: null,
        profile_version: null,
        profile_save_changes: false,
        browser_restarts: 0,
        ended_at: null,
        ended_reason: null,
        max_duration_seconds: null,
        ends_at: null,
      },
    });
    const counted = await query
      .selectFrom("sessions")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    expect(counted.count).toBe(1);
    const tagged = await query
      .selectFrom("sessions")
      .select("id")
      .where("tags", "@>", sql<Record<string, string>>`${JSON.stringify({ team: "qa" })}::jsonb`)
      .execute();
    expect(tagged).toEqual([{ id: "b1" }]);

    const key_hash = Buffer.from([0, 1, 255]);
    const key = {
      id: "k1",
      name: "key",
      key_hash,
      masked_key: "sk_…",
      project_id: null,
      created_by_id: "x",
      created_by_email: "e",
      created_by_name: null,
      lifetime_days: null,
    };
    await query
      .insertInto("api_keys")
      .values({ ...key, expires_at: new Date("2030-01-01T00:00:00Z"), deleted_at: null })
      .execute();
    const stored = await query.selectFrom("api_keys").selectAll().where("key_hash", "=", key_hash).executeTakeFirstOrThrow();
    expect(stored).toMatchObject({ ...key, expires_at: "2030-01-01T00:00:00.000Z" });
    expect(stored.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it("holds names apart: profiles in a project, sessions while they run, one default project", async () => {
    const { query } = await fresh();
    const { id: project_id } = await query.selectFrom("projects").select("id").executeTakeFirstOrThrow();
    const profile = (id: string, name: string | null) =>
      query.insertInto("profiles").values({ id, project_id, name, updated_at: null, last_used_at: null }).execute();
    await profile("p1", "same");
    await expect(profile("p2", "same")).rejects.toMatchObject({ code: "23505", constraint: "profiles_project_id_name_key" });
    await profile("p3", null);
    await profile("p4", null);
    const session = (id: string) =>
      query
        .insertInto("sessions")
        .values({
          id,
          project_id,
          name: "same",
          placement: "process",
          server_id: "s",
          timeout_seconds: 10,
          headless: true,
          stealth: false,
          viewport: null,
          start_url: null,
          ended_at: null,
          ended_reason: null,
        })
        .execute();
    await session("b1");
    await expect(session("b2")).rejects.toMatchObject({ code: "23505", constraint: "sessions_active_name" });
    await query.updateTable("sessions").set({ ended_at: new Date(), ended_reason: "deleted" }).where("id", "=", "b1").execute();
    await session("b2");
    await expect(query.updateTable("sessions").set({ ended_at: new Date() }).where("id", "=", "b2").execute()).rejects.toMatchObject({
      code: "23514",
    });
    await expect(query.insertInto("projects").values({ id: "x", name: "x", is_default: true }).execute()).rejects.toMatchObject({ code: "23505" });
  });

  it("finds names whatever their case and accents", async () => {
    const { query } = await fresh();
    const { id: project_id } = await query.selectFrom("projects").select("id").executeTakeFirstOrThrow();
    const names = ["Café Zürich", "ΜΕΓΆΛΗ Πόλις", "ＷＩＤＥ", "İstanbul", "100%_sure\\", "日本語", "ОЁЖ"];
    await query
      .insertInto("profiles")
      .values(names.map((name, index) => ({ id: `p${index}`, project_id, name, updated_at: null, last_used_at: null })))
      .execute();
    const equal = async (name: string) =>
      (await query.selectFrom("profiles").select("name").where("name_folded", "=", folded(name)).execute()).map((row) => row.name);
    const containing = async (part: string) =>
      (await query.selectFrom("profiles").select("name").where(containsFolded("name_folded", part)).orderBy("id").execute()).map((row) => row.name);
    expect(await equal("CAFE ZURICH")).toEqual(["Café Zürich"]);
    expect(await equal("cafe\u0301 zu\u0308rich")).toEqual(["Café Zürich"]);
    expect(await equal("μεγαλη πολις")).toEqual(["ΜΕΓΆΛΗ Πόλις"]);
    expect(await equal("Μεγαλη ΠΟΛΙΣ")).toEqual(["ΜΕΓΆΛΗ Πόλις"]);
    expect(await equal("wide")).toEqual(["ＷＩＤＥ"]);
    expect(await equal("istanbul")).toEqual(["İstanbul"]);
    expect(await equal("оеж")).toEqual(["ОЁЖ"]);
    expect(await containing("zurich")).toEqual(["Café Zürich"]);
    expect(await containing("%_")).toEqual(["100%_sure\\"]);
    expect(await containing("\\")).toEqual(["100%_sure\\"]);
    expect(await containing("本")).toEqual(["日本語"]);
    expect(await containing("")).toHaveLength(names.length);
  });

  it("tells every replica of changes, soon after their commit", async () => {
    const url = await server.createDatabase();
    const [writer, reader] = await Promise.all([connect(url), connect(url)]);
    const heard: string[] = [];
    const stop = reader.onChange((change) => heard.push(change === undefined ? "lost" : `${change.table}:${change.id}`));
    const own: unknown[] = [];
    writer.onChange((change) => own.push(change));
    writer.onChange(() => {
      throw new Error("a bad listener");
    });
    const { id: project_id } = await writer.query.selectFrom("projects").select("id").executeTakeFirstOrThrow();
    await writer.query.insertInto("profiles").values({ id: "p1", project_id, name: "a", updated_at: null, last_used_at: null }).execute();
    await writer.query.updateTable("profiles").set({ name: "b" }).where("id", "=", "p1").execute();
    await writer.query.updateTable("profiles").set({ name: "b" }).where("id", "=", "p1").execute(); // changes nothing
    await writer.query.deleteFrom("profiles").where("id", "=", "p1").execute();
    await writer.query.updateTable("projects").set({ name: "renamed" }).execute();
    const expected = ["profiles:p1", "profiles:p1", "profiles:p1", `projects:${project_id}`];
    await vi.waitFor(
      () => {
        expect(heard).toEqual(expected);
        expect(own).toHaveLength(4);
      },
      { timeout: 15_000 },
    );
    await writer.query
      .transaction()
      .execute(async (transaction) => {
        await transaction.updateTable("projects").set({ name: "never" }).execute();
        throw new Error("changed my mind");
      })
      .catch(() => undefined);
    stop();
    await writer.query.updateTable("projects").set({ name: "again" }).execute();
    await vi.waitFor(
      () => {
        expect(own).toHaveLength(5);
      },
      { timeout: 15_000 },
    );
    expect(heard).toEqual(expected);
  });

  it("says when changes may have been missed, and hears them again", async () => {
    const database = await fresh();
    const heard: unknown[] = [];
    database.onChange((change) => heard.push(change?.table));
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and query like 'listen%'`.execute(
      database.query,
    );
    await vi.waitFor(
      () => {
        expect(heard[0]).toBe(undefined);
        expect(heard).toHaveLength(2);
        expect(database.isListening()).toBe(true);
      },
      { timeout: 15_000 },
    );
    await database.query.updateTable("projects").set({ name: "renamed" }).execute();
    await vi.waitFor(
      () => {
        expect(heard).toEqual([undefined, undefined, "projects"]);
      },
      { timeout: 15_000 },
    );
  });

  it("goes on after all its connections were cut, in use or not", async () => {
    const database = await fresh();
    const cut = database.query.transaction().execute(async (transaction) => {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`.execute(
        database.query,
      );
      await sql`select 1`.execute(transaction);
    });
    await expect(cut).rejects.toThrow();
    await vi.waitFor(
      async () => {
        expect(await database.query.selectFrom("projects").select("name").execute()).toEqual([{ name: "default" }]);
      },
      { timeout: 15_000 },
    );
  });

  it("repeats a prepared query whose columns a migration changed meanwhile", async () => {
    const { query } = await fresh();
    const all = () => query.selectFrom("projects").selectAll().where("is_default", "=", true).execute();
    expect(Object.keys((await all())[0] ?? {})).not.toContain("colour");
    const { rows } = await sql<{ count: number }>`select count(*) as count from pg_prepared_statements where name like 'shoal_%'`.execute(query);
    expect(rows[0]?.count).toBeGreaterThan(0);
    await sql`alter table projects add colour text`.execute(query);
    expect(Object.keys((await all())[0] ?? {})).toContain("colour");
    await sql`alter table projects drop colour`.execute(query);
    const inTransaction = query
      .transaction()
      .execute((transaction) => transaction.selectFrom("projects").selectAll().where("is_default", "=", true).execute());
    // In a transaction the failure cannot be hidden, but the next attempt must not meet it again.
    await inTransaction.catch(() => undefined);
    expect(
      await query.transaction().execute((transaction) => transaction.selectFrom("projects").selectAll().where("is_default", "=", true).execute()),
    ).toHaveLength(1);
  });

  it("limits the time of queries and of idle transactions", async () => {
    const database = await fresh();
    const { rows } = await sql<
      Record<string, string>
    >`select current_setting('statement_timeout') as statement, current_setting('idle_in_transaction_session_timeout') as idle`.execute(
      database.query,
    );
    expect(rows[0]).toEqual({ statement: "30s", idle: "1min" });
  });

  it("refuses a database that a newer Shoal migrated", async () => {
    const url = await server.createDatabase();
    await (await connect(url)).close();
    await runOn(url, "insert into shoal_migrations (id) values ('0999_future')");
    const error = await refusal(url);
    expect(error.code).toBe("schema_newer");
    expect(error.message).toContain("0999_future");
  });

  describe("says what is wrong with the URL", () => {
    it.each([
      ["another scheme", "mysql://user:secret1@host/db"],
      ["no scheme", "user:secret1@host/db"],
      ["no URL at all", "secret1"],
      ["a broken port", "postgres://user:secret1@host:port/db"],
      ["a broken escape", "postgres://user:secret1%@host/db"],
      ["a broken escape in the name", "postgres://user:secret1@host/db%"],
    ])("%s", async (_, url) => {
      const error = await refusal(url);
      expect(error.code).toBe("invalid_url");
      expect(`${error.message} ${error.hint} ${String(error.cause)} ${String(error.stack)}`).not.toContain("secret1");
    });

    it("a closed port, a host that does not exist, a missing socket", async () => {
      const closed = await refusal(`postgres://shoal:secret1@127.0.0.1:${await unusedPort()}/db`);
      expect(closed).toMatchObject({ code: "connection_failed" });
      expect(closed.message).toContain("127.0.0.1");
      expect(await refusal("postgres://shoal:secret1@nowhere.invalid/db")).toMatchObject({ code: "connection_failed" });
      expect(await refusal("postgres:///db?host=/nowhere&user=x")).toMatchObject({ code: "connection_failed" });
      const both = await refusal(`postgres://shoal:secret1@localhost:${await unusedPort()}/db`);
      expect(both.message).toContain("ECONNREFUSED");
      for (const error of [closed, both])
        expect(`${error.message} ${error.hint} ${String(error.stack)} ${JSON.stringify(error.cause)}`).not.toContain("secret1");
    });

    it("a wrong password, an unknown database, no TLS", async () => {
      const wrong = await refusal(server.url.replace(/:[^:@]*@/, ":secret1@"));
      expect(wrong).toMatchObject({ code: "authentication_failed" });
      expect(await refusal(server.url.replace(/\/postgres$/, "/missing"))).toMatchObject({ code: "database_missing" });
      const tls = await refusal(`${server.url}?sslmode=verify-full`);
      expect(tls).toMatchObject({ code: "tls_failed" });
      expect(`${wrong.message}${JSON.stringify(wrong.cause)}`).not.toContain("secret1");
      expect(tls.message + tls.hint).not.toContain(server.password);
    });

    it("a database that does not hold UTF-8", async () => {
      const url = await server.createDatabase(`encoding 'LATIN1' ${server.plainLocale} template template0`);
      expect(await refusal(url)).toMatchObject({ code: "encoding_unsupported" });
    });

    it("a role that may not make tables, and one that may only read", async () => {
      const url = await server.createDatabase();
      await runOn(server.url, "drop role if exists guest", "create role guest login password 'secret1'");
      await runOn(url, "revoke create on schema public from public");
      const guest = url.replace(/\/\/[^@]*@/, "//guest:secret1@");
      expect(await refusal(guest)).toMatchObject({ code: "permission_denied" });
      expect(await refusal(`${url}?options=-c%20default_transaction_read_only=on`)).toMatchObject({ code: "server_read_only" });
    });
  });
}
