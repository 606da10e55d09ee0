import { sql } from "kysely";
import { expect, it } from "vitest";
import type { DatabaseSuite } from "./suite.ts";

const session = {
  id: "b1",
  name: "one",
  tags: { team: "qa", "a b": "=+@" },
  viewport: { width: 1280, height: 720 },
  start_url: null,
  placement: "sandbox",
  server_id: "s1",
  timeout_seconds: 60,
  headless: true,
  stealth: false,
  created_at: "2026-01-31T12:00:00.123Z",
};

const untouched = {
  proxy: null,
  pool_id: null,
  pool_name: null,
  pool_state: null,
  profile_id: null,
  profile_version: null,
  profile_save_changes: false,
  browser_restarts: 0,
  lifecycle: {},
  ended_at: null,
  ended_reason: null,
  max_duration_seconds: null,
  ends_at: null,
};

export function valueTests(suite: DatabaseSuite): void {
  it("stores and returns sessions in the form of the wire", async () => {
    const { query } = await suite.fresh();
    const { id: project_id } = await query
      .selectFrom("projects")
      .select("id")
      .where("is_default", "=", true)
      .executeTakeFirstOrThrow();
    await query
      .insertInto("sessions")
      .values({ ...session, project_id, ended_at: null, ended_reason: null })
      .execute();
    const row = await query.selectFrom("sessions").selectAll().where("id", "=", "b1").executeTakeFirstOrThrow();
    expect(row).toMatchObject({ ...session, ...untouched, project_id, name_folded: "one" });
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
  });

  it("stores and returns API keys in the form of the wire", async () => {
    const { query } = await suite.fresh();
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
    const stored = await query
      .selectFrom("api_keys")
      .selectAll()
      .where("key_hash", "=", key_hash)
      .executeTakeFirstOrThrow();
    expect(stored).toMatchObject({ ...key, expires_at: "2030-01-01T00:00:00.000Z" });
    expect(stored.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });
}
