import type { AuthContext, OrgEntitlements, Project } from "@shoal/schemas";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId } from "@shoal/primitives";
import { eventuallyPasses } from "@shoal/testkit";
import { sessionRow } from "../../testing/session-row.ts";
import { startTestServer, type TestRequest, type TestServer } from "../../testing/test-server.ts";
import { completeConfig } from "../../config/config.ts";
import { reservedProjectNames } from "./reserved-names.ts";
import { notContents, partlyContents } from "./contents.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    max_sessions_per_project: 3,
    max_sessions_per_organization: 20,
    min_health_check_seconds: 60,
    search_searxng_url: "http://127.0.0.1:1",
    credential_env_prefix: "NONE_",
    credential_projects: ["shop"],
  });
});
afterAll(() => server.close());

let names = 0;
const unique = (prefix: string) => `${prefix} ${String(names++)}`;
const inProject = (project: string) => ({ headers: { "x-shoal-project": project } });

async function make(name = unique("project")): Promise<Project> {
  const reply = await server.request("POST", "/org/projects", { body: { name } });
  expect(reply.status).toBe(201);
  return reply.body as Project;
}

async function outcome(method: string, path: string, request?: TestRequest): Promise<string> {
  const { body, status } = await server.request(method, path, request);
  const { code } = (body ?? {}) as { code?: string };
  return code === undefined ? String(status) : `${String(status)} ${code}`;
}

describe.each(["/org/projects", "/projects"])("%s", (root) => {
  it("creates, finds, changes and deletes projects", async () => {
    const name = unique("Café");
    const made = (await server.request("POST", root, { body: { name } })).body as Project;
    expect(made).toMatchObject({ name, status: "active" });
    for (const idOrName of [made.id, name])
      expect((await server.request("GET", `${root}/${encodeURIComponent(idOrName)}`)).body).toEqual(made);
    for (const query of [`name=${name.replace("é", "E")}`, "query=AFE"])
      expect((await server.request("GET", `${root}?${query}`)).body).toContainEqual(made);
    expect(await outcome("POST", root, { body: { name } })).toBe("409 name_taken");
    const changed = (await server.request("PATCH", `${root}/${made.id}`, { body: { name: `${name} 2` } }))
      .body as Project;
    expect(changed).toMatchObject({ id: made.id, name: `${name} 2`, created_at: made.created_at });
    expect((await server.request("PATCH", `${root}/${made.id}`, { body: {} })).body).toEqual(changed);
    expect(
      (await server.request("PATCH", `${root}/${made.id}/limits`, { body: { max_concurrent_invocations: 4 } })).body,
    ).toMatchObject({
      max_concurrent_invocations: 4,
      max_concurrent_sessions: null,
    });
    expect(await outcome("DELETE", `${root}/${made.id}`)).toBe("204");
    expect(await outcome("GET", `${root}/${made.id}`)).toBe("404 not_found");
    expect((await make(`${name} 2`)).id).not.toBe(made.id);
  });
});

it("lists the newest first, page by page", async () => {
  const made = [await make(), await make(), await make()].map(({ id }) => id).reverse();
  const first = await server.request("GET", "/org/projects?limit=2");
  expect((first.body as Project[]).map(({ id }) => id)).toEqual(made.slice(0, 2));
  expect(first.headers.get("x-next-offset")).toBe("2");
  expect(((await server.request("GET", "/org/projects?limit=2&offset=2")).body as Project[])[0]?.id).toBe(made[2]);
});

it.each([
  ["no name", {}, "body.name"],
  ["an empty name", { name: "" }, "body.name"],
  ["a name of 256 characters", { name: "😀".repeat(256) }, "body.name"],
  ["a control character", { name: "a\nb" }, "body.name"],
])("rejects %s", async (_what, body, field) => {
  expect((await server.request("POST", "/org/projects", { body })).body).toMatchObject({
    code: "bad_request",
    message: expect.stringContaining(field) as unknown,
  });
});

it("accepts a name of 255 characters", async () => {
  expect((await make("😀".repeat(255))).name).toHaveLength(510);
});

describe("a project that is archived", () => {
  it("rejects requests within it, but can be read and reopened", async () => {
    const { id, name } = await make();
    const { key } = (await server.request("POST", "/org/api_keys", { body: { name: "own", project_id: id } })).body as {
      key: string;
    };
    expect(await outcome("PATCH", `/org/projects/${id}`, { body: { status: "archived" } })).toBe("200");
    for (const request of [
      inProject(id),
      inProject(name),
      { headers: { "x-kernel-project-id": id } },
      { headers: { "x-kernel-project": name } },
      { key },
    ]) {
      expect(await outcome("GET", "/profiles", request)).toBe("404 project_not_found");
    }
    expect(await outcome("POST", "/org/api_keys", { body: { name: "another", project_id: id } })).toBe(
      "404 project_not_found",
    );
    expect((await server.request("GET", `/org/projects/${id}`)).body).toMatchObject({ status: "archived" });
    await server.request("PATCH", `/org/projects/${id}`, { body: { status: "active" } });
    for (const request of [inProject(name), { key }]) expect(await outcome("GET", "/profiles", request)).toBe("200");
  });

  it("has sessions that its key and organisation-wide keys can read and end", async () => {
    const { id, name } = await make();
    const { key } = (await server.request("POST", "/org/api_keys", { body: { name: "own", project_id: id } })).body as {
      key: string;
    };
    const start = async () =>
      (
        (await server.request("POST", "/browsers", { key, body: { timeout_seconds: 3600 } })).body as {
          session_id: string;
        }
      ).session_id;
    const [first, second] = await Promise.all([start(), start()]);
    await server.request("PATCH", `/org/projects/${id}`, { body: { status: "archived" } });
    for (const request of [inProject(id), inProject(name), { key }]) {
      expect(
        ((await server.request("GET", "/browsers", request)).body as { session_id: string }[])
          .map(({ session_id }) => session_id)
          .sort(),
      ).toEqual([first, second].sort());
      expect(await outcome("GET", `/browsers/${first}`, request)).toBe("200");
      expect(await outcome("POST", "/browsers", { ...request, body: {} })).toBe("404 project_not_found");
      expect(await outcome("PATCH", `/browsers/${first}`, { ...request, body: { name: "x" } })).toBe(
        "404 project_not_found",
      );
    }
    expect(await outcome("DELETE", `/browsers/${first}`, inProject(id))).toBe("204");
    expect(await outcome("DELETE", `/browsers/${second}`, { key })).toBe("204");
    expect((await server.request("GET", "/browsers", inProject(id))).body).toEqual([]);
  });

  it("rejects writes of an earlier request", async () => {
    const { id } = await make();
    await server.request("PATCH", `/org/projects/${id}`, { body: { status: "archived" } });
    await expect(
      server.database.query.insertInto("profiles").values({ id: createId(), project_id: id, name: "late" }).execute(),
    ).rejects.toMatchObject({ code: "SH404" });
  });
});

describe("deleting", () => {
  it("is rejected while the project has contents, and deletes its keys", async () => {
    const { id, name } = await make();
    const { key } = (await server.request("POST", "/org/api_keys", { body: { name: "own", project_id: id } })).body as {
      key: string;
    };
    const profile = (await server.request("POST", "/profiles", { key, body: {} })).body as { id: string };
    const session = sessionRow({ id: createId(), project_id: id });
    await server.database.query.insertInto("sessions").values(session).execute();
    const full = await server.request("DELETE", `/org/projects/${id}`);
    expect(full).toMatchObject({
      status: 409,
      body: { code: "project_not_empty", message: expect.stringContaining("running sessions, profiles") as unknown },
    });
    await server.database.query
      .updateTable("sessions")
      .set({ ended_at: new Date(), ended_reason: "deleted" })
      .where("id", "=", session.id)
      .execute();
    expect(await outcome("DELETE", `/org/projects/${id}`)).toBe("409 project_not_empty");
    await server.request("DELETE", `/profiles/${profile.id}`, { key });
    expect(await outcome("DELETE", `/org/projects/${name}`, { key })).toBe("403 forbidden");
    expect(await outcome("DELETE", `/org/projects/${name}`)).toBe("204");
    expect(await outcome("GET", "/profiles", { key })).toBe("401 unauthorized");
    expect(await outcome("GET", "/profiles", inProject(id))).toBe("404 project_not_found");
    expect(await outcome("DELETE", `/org/projects/${id}`)).toBe("404 not_found");
  });

  it("leaves no resource that was created concurrently", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await make();
      const [removed, ...made] = await Promise.all([
        outcome("DELETE", `/org/projects/${id}`),
        ...[1, 2, 3].map(() => outcome("POST", "/profiles", { ...inProject(id), body: {} })),
      ]);
      const { length } = await server.database.query
        .selectFrom("profiles")
        .select("id")
        .where("project_id", "=", id)
        .execute();
      if (removed === "204") expect([length, made]).toEqual([0, made.map(() => "404 project_not_found")]);
      else
        expect([removed, length]).toEqual(["409 project_not_empty", made.filter((status) => status === "201").length]);
    }
  });

  it("knows which rows of projects stay after their end", async () => {
    const { rows } = await sql<{ name: string }>`
      select distinct a.table_name as name from information_schema.columns a
      join information_schema.columns b using (table_schema, table_name)
      where a.column_name = 'project_id' and b.column_name in ('deleted_at', 'ended_at', 'finished_at')
        and table_schema = current_schema()`.execute(server.database.query);
    expect(
      rows.map(({ name }) => name).filter((name) => !(name in partlyContents) && !notContents.includes(name)),
    ).toEqual([]);
  });
});

it("allows the key of a project to rename its project only", async () => {
  const { id, key } = await server.addProject(unique("scoped"));
  expect(await outcome("POST", "/org/projects", { key, body: { name: unique("stolen") } })).toBe("403 forbidden");
  expect(await outcome("PATCH", `/org/projects/${id}`, { key, body: { status: "archived" } })).toBe("403 forbidden");
  expect(await outcome("PATCH", `/org/projects/${id}/limits`, { key, body: { max_concurrent_sessions: 9 } })).toBe(
    "403 forbidden",
  );
  expect(await outcome("PATCH", "/org/limits", { key, body: { default_project_max_concurrent_sessions: 9 } })).toBe(
    "403 forbidden",
  );
  expect(await outcome("GET", `/org/projects/${id}/limits`, { key })).toBe("200");
  expect(
    await outcome("PATCH", `/org/projects/${id}`, { key, body: { name: unique("renamed"), status: "active" } }),
  ).toBe("200");
  expect(
    ((await server.request("GET", "/org/projects", { key })).body as Project[]).map((project) => project.id),
  ).toEqual([id]);
});

it("keeps names with rights in the settings of the service from the key of a project", async () => {
  const { id, key } = await server.addProject(unique("scoped"));
  const rename = (name: string, request?: TestRequest) =>
    outcome("PATCH", `/org/projects/${id}`, { ...request, body: { name } });
  expect(await rename("shop", { key })).toBe("403 forbidden");
  expect(await rename("shop")).toBe("200");
  expect(await rename(unique("renamed"), { key })).toBe("403 forbidden");
  expect(await outcome("PATCH", `/org/projects/${id}`, { key, body: { name: "shop" } })).toBe("200");
  const settings = { oidc_issuer: "https://id.example", oidc_roles: ["groups=a:team:admin", "groups=b:*:viewer"] };
  expect([...reservedProjectNames(completeConfig(settings))]).toEqual(["team", "*"]);
});

it("does not reveal names of other projects to the key of a project", async () => {
  const { id, key } = await server.addProject(unique("curious"));
  const [active, archived] = [await make(), await make()];
  await server.request("PATCH", `/org/projects/${archived.id}`, { body: { status: "archived" } });
  const answers = await Promise.all(
    [active.id, active.name, archived.id, archived.name, createId(), "no such project"].map(async (project) => {
      const { body, status } = await server.request("GET", "/profiles", { key, ...inProject(project) });
      return `${String(status)} ${JSON.stringify(body).replace(project, "NAME")}`;
    }),
  );
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toMatch(/^403 .*"code":"forbidden"/);
  expect(await outcome("GET", "/profiles", { key, ...inProject(id) })).toBe("200");
});

it.each([".", ".."])("rejects the name %s, which is invalid in a path", async (name) => {
  const { key } = await server.addProject(unique("dots"));
  const refused = { code: "bad_request", message: expect.stringContaining("name") as unknown };
  for (const path of ["/org/projects", "/profiles", "/browsers", "/browser_pools", "/org/api_keys"])
    expect(
      (await server.request("POST", path, { ...(path !== "/org/projects" && { key }), body: { name, size: 1 } })).body,
      path,
    ).toMatchObject(refused);
  const { id } = (await server.request("POST", "/profiles", { key, body: {} })).body as { id: string };
  expect((await server.request("PATCH", `/profiles/${id}`, { key, body: { name } })).body).toMatchObject(refused);
});

describe("the caller's identity", () => {
  it("returns the key and the projects it can access", async () => {
    const { id, key } = await server.addProject(unique("who"));
    const ask = async (request?: TestRequest) =>
      (await server.request("GET", "/auth/context", request)).body as AuthContext;
    const [admin, named, own] = [await ask(), await ask(inProject(id)), await ask({ key })];
    expect(admin.organization.id).toMatch(/^[a-z][a-z0-9]{23}$/);
    expect(admin.authorization).toEqual({
      credential_scope: { project_id: null },
      effective_scope: { project_id: null },
    });
    expect(named.authorization).toEqual({
      credential_scope: { project_id: null },
      effective_scope: { project_id: id },
    });
    expect(own.authorization).toEqual({ credential_scope: { project_id: id }, effective_scope: { project_id: id } });
    expect(own).toMatchObject({
      organization: admin.organization,
      authentication: { method: "api_key", source: "api_key", credential_id: own.principal.id },
      principal: { type: "api_key" },
    });
  });

  it("includes the usable features of the organisation", async () => {
    const { features, limits, plan } = (await server.request("GET", "/org/entitlements")).body as OrgEntitlements;
    expect(features).toMatchObject({
      file_io: { enabled: true },
      custom_proxies: { enabled: true },
      gpu: { enabled: false },
      managed_proxies: { enabled: false },
      search: { enabled: true },
      managed_auth: { health_check_interval_default_seconds: 3600, health_check_interval_min_seconds: 60 },
      vaults: { enabled: true },
    });
    expect(limits.max_vaults).toBeNull();
    expect((await server.request("GET", "/org/limits")).body).toMatchObject({ min_health_check_interval_seconds: 60 });
    expect(limits.max_concurrent_browsers).toBe(20);
    expect(plan.status).toBeNull();
  });

  it("records the use of the key within seconds", async () => {
    const made = (await server.request("POST", "/org/api_keys", { body: { name: "used" } })).body as {
      id: string;
      key: string;
    };
    expect(made).not.toHaveProperty("last_used_at");
    const before = Date.now();
    await server.request("GET", "/profiles", { key: made.key });
    const key = await eventuallyPasses(async () => {
      const { body } = await server.request("GET", `/org/api_keys/${made.id}`);
      expect(body).toHaveProperty("last_used_at");
      return body as { last_used_at: string };
    });
    const usedAtMs = Date.parse(key.last_used_at);
    expect([usedAtMs >= before, usedAtMs <= Date.now()]).toEqual([true, true]);
    expect((await server.request("PATCH", `/org/api_keys/${made.id}`, { body: { name: "renamed" } })).body).toEqual({
      ...key,
      name: "renamed",
    });
  });
});

// Last: these change which project is the default one.
describe("the default project", () => {
  const ownOf = async () => ((await server.request("POST", "/profiles", { body: {} })).body as { id: string }).id;
  const projectOf = async (profileId: string) =>
    (
      await server.database.query
        .selectFrom("profiles")
        .select("project_id")
        .where("id", "=", profileId)
        .executeTakeFirstOrThrow()
    ).project_id;

  it("is replaced by the oldest other project when it is archived", async () => {
    const old = await projectOf(await ownOf());
    const [heir] = await server.database.query
      .selectFrom("projects")
      .select("id")
      .where("deleted_at", "is", null)
      .where("status", "=", "active")
      .where("id", "!=", old)
      .orderBy("created_at")
      .orderBy("id")
      .limit(1)
      .execute();
    expect(await outcome("PATCH", `/org/projects/${old}`, { body: { status: "archived", name: "former" } })).toBe(
      "200",
    );
    expect(await projectOf(await ownOf())).toBe(heir?.id);
    await server.request("PATCH", "/org/projects/former", { body: { status: "active" } });
    expect(await projectOf(await ownOf())).toBe(heir?.id);
  });

  it("exists even if all projects are archived at once", async () => {
    const { body } = await server.request("GET", "/org/projects?limit=100");
    const active = (body as Project[]).filter(({ status }) => status === "active");
    const outcomes = await Promise.all(
      active.map(({ id }) => outcome("PATCH", `/org/projects/${id}`, { body: { status: "archived" } })),
    );
    expect(outcomes.filter((text) => text === "409 last_active_project")).toHaveLength(1);
    expect(outcomes.filter((text) => text === "200")).toHaveLength(active.length - 1);
    const [last, ...more] = ((await server.request("GET", "/org/projects?limit=100")).body as Project[]).filter(
      ({ status }) => status === "active",
    );
    expect(more).toEqual([]);
    expect(await projectOf(await ownOf())).toBe(last?.id);
    const made = await server.database.query
      .selectFrom("profiles")
      .select("id")
      .where("project_id", "=", last?.id ?? "")
      .execute();
    for (const { id } of made) await server.request("DELETE", `/profiles/${id}`);
    expect(await outcome("DELETE", `/org/projects/${last?.id ?? ""}`)).toBe("409 last_active_project");
  });
});
