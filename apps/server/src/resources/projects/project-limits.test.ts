import type { OrgLimits, Project, ProjectLimits } from "@shoal/schemas";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SessionStore, type SessionRow } from "../../sessions/browsers/session-store.ts";
import { createId } from "@shoal/primitives";
import { sql } from "kysely";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ max_sessions_per_project: 3, max_sessions_per_organization: 20 });
});
afterAll(() => server.close());

let names = 0;
async function make(name = `project ${String(names++)}`): Promise<Project> {
  const reply = await server.request("POST", "/org/projects", { body: { name } });
  expect(reply.status).toBe(201);
  return reply.body as Project;
}

function sessionRow(projectId: string): SessionRow {
  return {
    id: createId(),
    project_id: projectId,
    api_key_id: null,
    name: null,
    tags: {},
    placement: "process",
    server_id: createId(),
    created_at: new Date().toISOString(),
    timeout_seconds: 60,
    headless: true,
    stealth: false,
    viewport: null,
    start_url: null,
    invocation_id: null,
    proxy: null,
    pool_id: null,
    pool_name: null,
    pool_state: null,
    profile_id: null,
    profile_version: null,
    profile_save_changes: false,
    lifecycle: {},
    browser_restarts: 0,
    options: {},
    region: "default",
    memory: null,
    telemetry_destination_id: null,
    ended_at: null,
    max_duration_seconds: null,
    ends_at: null,
    ended_reason: null,
  };
}

describe("limits", () => {
  it.each<[string, object, ProjectLimits]>([
    [
      "sets one and leaves the other",
      { max_concurrent_sessions: 5 },
      { max_concurrent_sessions: 5, max_concurrent_invocations: null },
    ],
    [
      "leaves what is null",
      { max_concurrent_sessions: null, max_concurrent_invocations: 2 },
      { max_concurrent_sessions: 5, max_concurrent_invocations: 2 },
    ],
    [
      "takes the largest",
      { max_concurrent_invocations: 1_000_000 },
      { max_concurrent_sessions: 5, max_concurrent_invocations: 1_000_000 },
    ],
    [
      "takes away what is 0",
      { max_concurrent_sessions: 0, max_pooled_sessions: 0 },
      { max_concurrent_sessions: null, max_concurrent_invocations: 1_000_000 },
    ],
    ["changes nothing", {}, { max_concurrent_sessions: null, max_concurrent_invocations: 1_000_000 }],
  ])("%s", async (_what, body, expected) => {
    const [existing] = (await server.request("GET", "/org/projects?name=limited")).body as Project[];
    const { id } = existing ?? (await make("limited"));
    expect((await server.request("PATCH", `/org/projects/${id}/limits`, { body })).body).toEqual(expected);
    expect((await server.request("GET", `/org/projects/${id}/limits`)).body).toEqual(expected);
  });

  it.each(["max_concurrent_sessions", "max_concurrent_invocations"])(
    "rejects a %s outside the range",
    async (field) => {
      const { id } = await make();
      for (const value of [-1, 1_000_001, 1.5, "1"]) {
        expect(
          (await server.request("PATCH", `/org/projects/${id}/limits`, { body: { [field]: value } })).body,
        ).toMatchObject({
          code: "bad_request",
          message: expect.stringContaining(`body.${field}`) as unknown,
        });
      }
    },
  );

  it("refuses max_pooled_sessions and names what to set instead", async () => {
    const { id } = await make();
    expect(
      (await server.request("PATCH", `/org/projects/${id}/limits`, { body: { max_pooled_sessions: 1 } })).body,
    ).toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("max_concurrent_sessions") as unknown,
    });
  });

  it("of the organisation apply to projects without their own", async () => {
    const settings: OrgLimits = {
      max_concurrent_sessions: 20,
      concurrent_sessions_used: 0,
      concurrent_sessions_available: 20,
      default_project_max_concurrent_sessions: 3,
      max_auth_connections: null,
      auth_connections_used: 0,
      min_health_check_interval_seconds: 300,
      max_vaults: null,
      vaults_used: 0,
    };
    expect((await server.request("GET", "/org/limits")).body).toEqual(settings);
    const set = async (limit: number | null) =>
      server.request("PATCH", "/org/limits", { body: { default_project_max_concurrent_sessions: limit } });
    expect((await set(20)).body).toEqual({ ...settings, default_project_max_concurrent_sessions: 20 });
    expect((await set(21)).body).toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("at most 20") as unknown,
    });
    expect((await set(0)).body).toEqual({ ...settings, default_project_max_concurrent_sessions: null });
    expect((await set(null)).body).toEqual({ ...settings, default_project_max_concurrent_sessions: null });
    await server.database.query.updateTable("organization").set({ default_max_sessions: null }).execute();
  });

  it("are exact with concurrent requests", async () => {
    const { id } = await make();
    const limits = { perProject: 3, perOrganization: 20 };
    const store = new SessionStore(server.database);
    const ask = async (projectId: string, count: number) => {
      const settled = await Promise.allSettled(
        Array.from({ length: count }, () => store.insert(sessionRow(projectId), limits)),
      );
      return {
        stored: settled.filter(({ status }) => status === "fulfilled").length,
        refusals: settled.flatMap((result): unknown[] => (result.status === "rejected" ? [result.reason] : [])),
      };
    };
    const first = await ask(id, 100);
    expect(first.stored).toBe(3);
    expect(first.refusals).toHaveLength(97);
    for (const refusal of first.refusals)
      expect(refusal).toMatchObject({
        status: 429,
        code: "too_many_requests",
        retryAfterSeconds: 5,
        fields: { limit: 3, used: 3, remaining: 0 },
      });
    await server.request("PATCH", `/org/projects/${id}/limits`, { body: { max_concurrent_sessions: 5 } });
    expect((await ask(id, 12)).stored).toBe(2);
    const reply = await server.request("POST", "/browsers", { headers: { "x-shoal-project": id } });
    expect(reply).toMatchObject({
      status: 429,
      body: { limit: 5, used: 5, remaining: 0, message: expect.stringContaining("projects.limits.update") as unknown },
    });
    expect(reply.headers.get("retry-after")).toBe("5");
    // All projects together.
    await server.request("PATCH", `/org/projects/${id}/limits`, { body: { max_concurrent_sessions: 1000 } });
    const all = await ask(id, 30);
    expect(all.stored).toBe(15);
    expect(all.refusals[0]).toMatchObject({
      message: expect.stringContaining("max_sessions_per_organization") as unknown,
      fields: { limit: 20, used: 20, remaining: 0 },
    });
    await server.database.query
      .updateTable("sessions")
      .set({ ended_at: new Date(), ended_reason: "deleted" })
      .where("project_id", "=", id)
      .execute();
  });

  it("count sessions that end in any way, and pools", async () => {
    const { query } = server.database;
    const [project, other] = [await make(), await make()];
    const limits = { perProject: 100, perOrganization: 1000 };
    const store = new SessionStore(server.database);
    const rows = [...Array.from({ length: 12 }, () => sessionRow(project.id)), sessionRow(other.id)];
    const used = async (id: string | null) =>
      (await sql<{ used: number }>`select shoal_used_sessions(${id}::text)::int as used`.execute(query)).rows[0]?.used;
    await Promise.all(rows.map((row) => store.insert(row, limits)));
    expect([await used(project.id), await used(other.id), await used(null)]).toEqual([12, 1, 13]);

    const [lost, removed, ended, ...rest] = rows.map(({ id, server_id }) => ({ id, server_id }));
    await Promise.all([
      store.endLost(lost?.server_id ?? ""),
      store.remove(removed?.id ?? ""),
      store.end(ended?.id ?? "", new Date().toISOString(), "deleted"),
      // Ends once.
      store.end(ended?.id ?? "", new Date().toISOString(), "deleted"),
    ]);
    await query
      .updateTable("sessions")
      .set({ name: "renamed" })
      .where("id", "=", rest[0]?.id ?? "")
      .execute();
    expect([await used(project.id), await used(null)]).toEqual([9, 10]);

    // A pool counts with its size, and with its browsers once it is smaller.
    const pool = createId();
    await query
      .insertInto("browser_pools")
      .values({ id: pool, project_id: project.id, size: 4, config: "{}" })
      .execute();
    await query
      .updateTable("sessions")
      .set({ pool_id: pool, pool_name: null, pool_state: "leased" })
      .where(
        "id",
        "in",
        rest.slice(0, 3).map(({ id }) => id),
      )
      .execute();
    expect([await used(project.id), await used(null)]).toEqual([10, 11]);
    await query.updateTable("browser_pools").set({ size: 1 }).where("id", "=", pool).execute();
    expect([await used(project.id), await used(null)]).toEqual([9, 10]);
    await store.insert(sessionRow(other.id), limits);
    expect([await used(project.id), await used(other.id), await used(null)]).toEqual([9, 2, 11]);

    await query
      .updateTable("sessions")
      .set({ ended_at: new Date(), ended_reason: "deleted" })
      .where("ended_at", "is", null)
      .execute();
    await query.deleteFrom("browser_pools").where("id", "=", pool).execute();
    // Only the new one is left, and nothing of the ended ones.
    for (const _ of [1, 2]) await store.insert(sessionRow(other.id), limits);
    expect([await used(project.id), await used(other.id), await used(null)]).toEqual([0, 2, 2]);
    const { rows: counts } = await sql`select counted, running::int from session_counts order by 1`.execute(query);
    expect(counts).toEqual(["", other.id].sort().map((counted) => ({ counted, running: 1 })));
  });
});
