import { type AuthConnectionsTable, type Database, openDatabase } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { eventually, waitLimitMs } from "@shoal/testkit";
import { type Insertable, sql } from "kysely";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { connectionRow } from "../../testing/connection-row.ts";
import { ConnectionStore } from "../connections/connection-store.ts";
import { FlowStore } from "../flows/flow-store.ts";
import type { CheckResult, Claim } from "./check-result.ts";
import { CheckStore, type Due } from "./check-store.ts";
import { Checks, type ChecksParts } from "./checks.ts";

const silent = () => undefined;
const log = { debug: silent, info: silent, warn: silent, error: silent } as unknown as ChecksParts["log"];
const folder = mkdtempSync(join(tmpdir(), "shoal-checks-"));
let database: Database;
let one: CheckStore;
let two: CheckStore;
let projectId: string;
beforeAll(async () => {
  database = await openDatabase({ dataDir: folder, log });
  one = new CheckStore(database, "one");
  two = new CheckStore(database, "two");
  ({ id: projectId } = await database.query.selectFrom("projects").select("id").executeTakeFirstOrThrow());
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await database.query.deleteFrom("servers").execute();
  for (const id of ["one", "two"])
    await database.query
      .insertInto("servers")
      .values({ id, life: createId(), address: null, version: null, secret_check: null, heartbeat_at: new Date() })
      .execute();
});
afterEach(async () => {
  await database.query.deleteFrom("auth_connections").execute();
});

type Change = Partial<Insertable<AuthConnectionsTable>>;

async function addConnection(change: Change = {}): Promise<string> {
  const [id, profile_id] = [createId(), createId()];
  await database.query
    .insertInto("profiles")
    .values({ id: profile_id, project_id: projectId, name: profile_id })
    .execute();
  await database.query
    .insertInto("auth_connections")
    .values({
      ...connectionRow({ id, project_id: projectId, profile_id }),
      status: "AUTHENTICATED",
      health_checks: true,
      auto_reauth: true,
      health_check_interval: 1000,
      signed_in_at: new Date(),
      next_check_at: new Date(Date.now() - 1000),
      ...change,
    })
    .execute();
  return id;
}

const connectionOf = (id: string) =>
  database.query
    .selectFrom("auth_connections")
    .selectAll()
    .select(sql<number>`extract(epoch from next_check_at - clock_timestamp())::float`.as("seconds_left"))
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
const timelineOf = (id: string) =>
  database.query.selectFrom("auth_flows").selectAll().where("connection_id", "=", id).orderBy("created_at").execute();

function claimOf(due: Due | undefined): Claim {
  if (due?.kind !== "check") throw new Error("No check is due.");
  return due.claim;
}

it("assigns each due connection to exactly one server", async () => {
  const ids = await Promise.all(Array.from({ length: 12 }, () => addConnection()));
  const taken = await Promise.all(Array.from({ length: 20 }, (_, place) => (place % 2 === 0 ? one : two).takeDue()));
  const again = await Promise.all([one.takeDue(), two.takeDue()]);
  const claims = [...taken, ...again].filter((due) => due !== undefined).map((due) => claimOf(due).connectionId);
  // A server may find all rows locked, and looks again a second later.
  while (claims.length < ids.length) claims.push(claimOf(await one.takeDue()).connectionId);
  expect(claims.sort()).toEqual(ids.sort());
  expect(await one.takeDue()).toBeUndefined();
});

it.each<[string, Change]>([
  ["that are not due", { next_check_at: new Date(Date.now() + 60_000) }],
  ["without health checks", { health_checks: false }],
  ["that are signed out and have no automatic login", { status: "NEEDS_AUTH", auto_reauth: false }],
  ["that never signed in", { status: "NEEDS_AUTH", signed_in_at: null }],
])("leaves connections alone %s", async (_why, change) => {
  await addConnection(change);
  expect(await one.takeDue()).toBeUndefined();
});

it("leaves a connection alone during a login, and while another connection of its profile is checked", async () => {
  const id = await addConnection();
  const flow = await new FlowStore(database).start({ connectionId: id, type: "login", serverId: "one" }, Date.now());
  expect(await one.takeDue()).toBeUndefined();
  expect(await one.take(projectId, id)).toBeUndefined();
  await new FlowStore(database).change(flow.id, { kind: "canceled" }, Date.now());
  const { profile_id } = await connectionOf(id);
  await database.query
    .insertInto("auth_connections")
    .values({
      ...connectionRow({ id: createId(), project_id: projectId, profile_id }),
      domain: "other.example",
      status: "AUTHENTICATED",
      health_checks: true,
      next_check_at: new Date(Date.now() - 500),
    })
    .execute();
  const first = claimOf(await one.takeDue());
  expect(first.connectionId).toBe(id);
  expect(await two.takeDue()).toBeUndefined();
  await one.finish(first, { status: "signed_in" });
  expect(claimOf(await two.takeDue()).connectionId).not.toBe(id);
});

it("assigns the connections of a dead server to another server, and ignores a late result", async () => {
  const id = await addConnection();
  const lost = claimOf(await one.takeDue());
  await database.query.deleteFrom("servers").where("id", "=", "one").execute();
  const again = claimOf(await two.takeDue());
  expect(again.connectionId).toBe(id);
  expect(await one.finish(lost, { status: "signed_out", reason: "late" })).toBeUndefined();
  await one.postpone(lost, { seconds: 1 });
  expect(await connectionOf(id)).toMatchObject({ status: "AUTHENTICATED", check_id: again.checkId });
  await two.releaseAll();
  expect(await connectionOf(id)).toMatchObject({ check_id: null, check_server_id: null });
});

it.each<[CheckResult, "AUTHENTICATED" | "NEEDS_AUTH"]>([
  [{ status: "signed_in" }, "AUTHENTICATED"],
  [{ status: "signed_out", reason: "The page shows a login form." }, "NEEDS_AUTH"],
  [{ status: "unknown", code: "network_error", reason: "The site cannot be reached.\0" }, "AUTHENTICATED"],
])("records %o", async (result, status) => {
  const id = await addConnection();
  await one.finish(claimOf(await one.takeDue()), result);
  const connection = await connectionOf(id);
  expect(connection).toMatchObject({ status, check_id: null, last_auth_check_at: expect.any(String) as unknown });
  // An automatic login is due at once; a check after the interval, ±10 %.
  const [least, most] = status === "NEEDS_AUTH" ? [-60, 1] : [800, 1101];
  expect(connection.seconds_left).toBeGreaterThan(least);
  expect(connection.seconds_left).toBeLessThan(most);
  expect(await timelineOf(id)).toMatchObject([
    { type: "health_check", status, previous_status: "AUTHENTICATED", error_code: result.code ?? null },
  ]);
});

it("shows a lasting reason for a postponed check once, except to a caller", async () => {
  const id = await addConnection();
  const why = { code: "profile_in_use", reason: "Browser x writes to the profile.", isRequested: false };
  for (let round = 0; round < 3; round++) {
    await one.postpone(claimOf(await one.takeDue()), { seconds: 900, why });
    expect((await connectionOf(id)).seconds_left).toBeGreaterThan(700);
    await database.query
      .updateTable("auth_connections")
      .set({ next_check_at: new Date(0) })
      .execute();
  }
  expect(await timelineOf(id)).toMatchObject([{ error_code: "profile_in_use", status: "AUTHENTICATED" }]);
  await one.postpone(claimOf(await one.takeDue()), { seconds: 900, why: { ...why, isRequested: true } });
  expect(await timelineOf(id)).toHaveLength(2);
});

it("keeps a bounded number of checks in the timeline", async () => {
  const id = await addConnection();
  await sql`insert into auth_flows (id, connection_id, type, status, created_at)
    select 'old' || n, ${id}, 'health_check', 'AUTHENTICATED', now() - n * interval '1 hour' from generate_series(1, 600) n`.execute(
    database.query,
  );
  await sql`insert into auth_flows (id, connection_id, type, status, created_at)
    values ('login-1', ${id}, 'login', 'SUCCESS', now() - interval '1 year')`.execute(database.query);
  await one.finish(claimOf(await one.takeDue()), { status: "signed_in" });
  const rows = await timelineOf(id);
  expect([rows.length, rows[0]?.id]).toEqual([501, "login-1"]);
});

/** Checks of server `one`, whose looks end when the test says so. */
function startChecks(change: Partial<ChecksParts> = {}) {
  const looks: { readonly id: string; readonly signal: AbortSignal; end(result: CheckResult | Error): void }[] = [];
  const logins: string[] = [];
  const checks = new Checks({
    database,
    store: one,
    connections: new ConnectionStore(database),
    checker: {
      check: ({ id }, signal) =>
        new Promise((resolve, reject) => {
          signal.addEventListener("abort", () => {
            reject(new Error("The look was stopped."));
          });
          looks.push({
            id,
            signal,
            end(result) {
              if (result instanceof Error) reject(result);
              else resolve(result);
            },
          });
        }),
    },
    logins: {
      async start({ id }) {
        logins.push(id);
        return new FlowStore(database).start({ connectionId: id, type: "reauth", serverId: "one" }, Date.now());
      },
    },
    rules: { maxBrowsers: 2, maxSessions: 10, limits: { perProject: 50, perOrganization: 1000 } },
    room: () => 10,
    isDoubtful: () => false,
    isDraining: () => false,
    log,
    ...change,
  });
  checks.start();
  return { checks, logins, looks };
}

it("runs a bounded number of checks at once, and the rest as they end", async () => {
  await Promise.all(Array.from({ length: 5 }, () => addConnection()));
  const { checks, looks } = startChecks();
  for (let ended = 0; ended < 5; ended++) {
    await eventually(() => looks.length === Math.min(5, ended + 2));
    looks[ended]?.end({ status: "signed_in" });
  }
  await eventually(async () => (await one.takeDue()) === undefined);
  await checks.close();
  expect(new Set(looks.map(({ id }) => id)).size).toBe(5);
});

it("leaves the last places for sessions to others", async () => {
  await addConnection();
  let room = 1;
  let asked = 0;
  const { checks, looks } = startChecks({
    room: () => {
      asked += 1;
      return room;
    },
  });
  await eventually(() => asked >= 2);
  expect(looks).toEqual([]);
  room = 2;
  await eventually(() => looks.length > 0);
  await checks.close();
});

it("signs in automatically while that is possible, with growing pauses", async () => {
  const credential_id = createId();
  await database.query
    .insertInto("credentials")
    .values({ id: credential_id, project_id: projectId, name: credential_id, domain: "example.com", totp: null })
    .execute();
  const [able, unable] = await Promise.all([
    addConnection({ status: "NEEDS_AUTH", credential_id }),
    addConnection({ status: "NEEDS_AUTH" }),
  ]);
  const { checks, logins } = startChecks();
  await eventually(() => logins.length > 0);
  await eventually(async () => (await connectionOf(unable)).seconds_left > 0);
  await checks.close();
  expect(logins).toEqual([able]);
  expect((await connectionOf(able)).seconds_left).toBeGreaterThan(200);
  expect((await connectionOf(unable)).seconds_left).toBeGreaterThan(800);
});

it("ends a check when a login of its connection starts", async () => {
  const id = await addConnection({ next_check_at: null });
  const { checks, looks } = startChecks();
  const connection = (await new ConnectionStore(database).find(projectId, id)) ?? expect.fail();
  const { status } = await checks.check(connection, 0, AbortSignal.timeout(waitLimitMs));
  expect(status).toBe("IN_PROGRESS");
  await eventually(() => looks.length === 1);
  await new FlowStore(database).start({ connectionId: id, type: "login", serverId: "two" }, Date.now());
  await eventually(() => looks[0]?.signal.aborted);
  await eventually(async () => (await connectionOf(id)).check_id === null);
  await expect(checks.check(connection, 0, AbortSignal.timeout(waitLimitMs))).rejects.toMatchObject({ status: 409 });
  await checks.close();
});

it("returns the reason of a check without a result to its caller", async () => {
  const id = await addConnection({ next_check_at: null });
  const { checks, looks } = startChecks();
  const connection = (await new ConnectionStore(database).find(projectId, id)) ?? expect.fail();
  const answers = [1, 2].map(() => checks.check(connection, 60, AbortSignal.timeout(waitLimitMs)));
  await eventually(() => looks.length === 1);
  looks[0]?.end(new ServiceError(409, "profile_in_use", "Browser x writes to the profile."));
  const shown = { status: "AUTHENTICATED", error_code: "profile_in_use", error_message: /Browser x/ };
  for (const answer of await Promise.all(answers))
    expect(answer).toMatchObject({ ...shown, error_message: expect.stringMatching(shown.error_message) as unknown });
  expect(await connectionOf(id)).toMatchObject({ last_auth_check_at: null });
  await checks.close();
});

it("frees its connections when the server stops", async () => {
  const id = await addConnection();
  const { checks, looks } = startChecks();
  await eventually(() => looks.length === 1);
  await checks.close();
  expect(await connectionOf(id)).toMatchObject({ check_id: null, status: "AUTHENTICATED" });
  expect(claimOf(await two.takeDue()).connectionId).toBe(id);
});
