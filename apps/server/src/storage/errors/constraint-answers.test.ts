import { Browser } from "@shoal/schemas";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { answerOf, constraintAnswers } from "./constraint-answers.ts";
import { blockedStatements } from "../../testing/blocked-statements.ts";
import { startTestServer, type TestReply, type TestServer } from "../../testing/test-server.ts";

const endpoint = "http://127.0.0.1:9/";
const ids: Record<string, string> = {};
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ allow_private_hosts: ["127.0.0.1:9"] }, { proxied: true });
  const create = async (path: string, body: object): Promise<string> => {
    const { body: made, status } = await server.request("POST", path, { body });
    expect(status, `${path} ${JSON.stringify(made)}`).toBeLessThan(300);
    const { id, session_id } = made as { id?: string; session_id?: string };
    return id ?? session_id ?? "";
  };
  for (const name of ["profile", "other", "loaded", "cloned"]) ids[name] = await create("/profiles", { name });
  ids.project = await create("/org/projects", { name: "project" });
  for (const name of ["destination", "destination-of-pool", "destination-of-session"]) {
    ids[name] = await create("/telemetry/destinations", { name, endpoint });
  }
  ids.pool = await create("/browser_pools", { name: "pool", size: 1 });
  ids.acquired = await create("/browser_pools", { name: "acquired", size: 1 });
  ids.browser = await create("/browsers", { name: "browser", profile: { name: "other" } });
});
afterAll(() => server.close());

/** Sends a request that waits for an open transaction, then commits the transaction. */
async function raced(
  change: string,
  request: readonly [method: string, path: string, body: object],
): Promise<TestReply> {
  const { query } = server.database;
  const transaction = await query.startTransaction().execute();
  try {
    await sql.raw(change).execute(transaction);
    const [method, path, body] = request;
    const answer = server.request(method, path, { body });
    // The keeper of the pools may wait as well.
    await expect.poll(() => blockedStatements({ query })).toBeGreaterThan(0);
    await transaction.commit().execute();
    return await answer;
  } catch (error) {
    if (!transaction.isCommitted) await transaction.rollback().execute();
    throw error;
  }
}

const export_ = (name: string) => ({ telemetry: { export: { otlp: { destination: { name } } } } });
const renamed = (table: string, id: string) => `update ${table} set name = 'wanted' where id = '${ids[id] ?? ""}'`;
const removed = (table: string, id: string) => `delete from ${table} where id = '${ids[id] ?? ""}'`;

const races: readonly (readonly [
  title: string,
  change: () => string,
  request: readonly [string, string, object],
  answer: string,
])[] = [
  [
    "a profile is created",
    () => renamed("profiles", "profile"),
    ["POST", "/profiles", { name: "wanted" }],
    "409 name_taken wanted",
  ],
  [
    "a profile is renamed",
    () => renamed("profiles", "profile"),
    ["PATCH", "/profiles/other", { name: "wanted" }],
    "409 name_taken wanted",
  ],
  [
    "a profile is cloned",
    () => renamed("profiles", "profile"),
    ["POST", "/profiles/other/clone", { name: "wanted" }],
    "409 name_taken wanted",
  ],
  [
    "a project is created",
    () => renamed("projects", "project"),
    ["POST", "/org/projects", { name: "wanted" }],
    "409 name_taken wanted",
  ],
  [
    "a destination is created",
    () => renamed("telemetry_destinations", "destination"),
    ["POST", "/telemetry/destinations", { name: "wanted", endpoint }],
    "409 name_taken wanted",
  ],
  [
    "a pool is created",
    () => renamed("browser_pools", "pool"),
    ["POST", "/browser_pools", { name: "wanted", size: 1 }],
    "409 name_taken wanted",
  ],
  [
    "a browser is created",
    () => renamed("sessions", "browser"),
    ["POST", "/browsers", { name: "wanted" }],
    "409 name_taken wanted",
  ],
  [
    "a second writer of a profile starts",
    () => `update sessions set profile_save_changes = true where id = '${ids.browser ?? ""}'`,
    ["POST", "/browsers", { profile: { name: "other", save_changes: true } }],
    "409 profile_in_use other",
  ],
  [
    "the profile of a browser is deleted",
    () => removed("profiles", "loaded"),
    ["POST", "/browsers", { profile: { name: "loaded" } }],
    "404 not_found loaded",
  ],
  [
    "the profile to clone is deleted",
    () => removed("profiles", "cloned"),
    ["POST", "/profiles/cloned/clone", {}],
    "404 not_found cloned",
  ],
  [
    "the destination of a browser is deleted",
    () => removed("telemetry_destinations", "destination-of-session"),
    ["POST", "/browsers", export_("destination-of-session")],
    "404 not_found ",
  ],
  [
    "the destination of a pool is deleted",
    () => removed("telemetry_destinations", "destination-of-pool"),
    ["POST", "/browser_pools", { name: "exporting", size: 1, ...export_("destination-of-pool") }],
    "404 not_found ",
  ],
  [
    "the pool to acquire from is deleted",
    () => removed("browser_pools", "acquired"),
    ["POST", "/browser_pools/acquired/acquire", { acquire_timeout_seconds: 60 }],
    "404 not_found acquired",
  ],
];

it.each(races)("names the resource when, at the same moment, %s", async (_title, change, request, answer) => {
  const [status = "", code, name = ""] = answer.split(" ");
  const reply = await raced(change(), request);
  const { code: got, message } = reply.body as { code: string; message: string };
  expect(`${String(reply.status)} ${got}`, message).toBe(`${status} ${code ?? ""}`);
  expect(
    [ids[name] ?? name, name].some((text) => message.includes(text)),
    message,
  ).toBe(true);
  // Restore the name of the row for the next race.
  for (const [table, id] of [
    ["profiles", "profile"],
    ["projects", "project"],
    ["telemetry_destinations", "destination"],
    ["browser_pools", "pool"],
    ["sessions", "browser"],
  ] as const)
    await sql`update ${sql.table(table)} set name = ${id} where id = ${ids[id] ?? ""} and name = 'wanted'`.execute(
      server.database.query,
    );
});

it("has an answer, or a reason, for each foreign key and unique index of the database", async () => {
  const { rows } = await sql<{ name: string }>`
    select conname as name from pg_constraint where contype in ('f', 'p', 'u') and connamespace = 'public'::regnamespace
    union select indexrelid::regclass::text from pg_index join pg_class on pg_class.oid = indrelid
      where indisunique and relnamespace = 'public'::regnamespace`.execute(server.database.query);
  const names = rows.map(({ name }) => name);
  expect(names.filter((name) => answerOf(name) === undefined)).toEqual([]);
  expect(Object.keys(constraintAnswers).filter((name) => !names.includes(name))).toEqual([]);
});

it("does not disturb running sessions", async () => {
  expect(Browser.parse((await server.request("GET", "/browsers/browser")).body).session_id).toBe(ids.browser);
});
