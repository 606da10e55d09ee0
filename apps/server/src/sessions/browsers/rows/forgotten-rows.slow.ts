import { createId } from "@shoal/primitives";
import { Browser } from "@shoal/schemas";
import { eventually } from "@shoal/testkit";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sessionRow } from "../../../testing/session-row.ts";
import { silentLog } from "../../../testing/test-database.ts";
import { startTestServer, type TestServer } from "../../../testing/test-server.ts";
import { withMembers } from "../../../testing/with-members.ts";
import { SessionStore } from "../session-store.ts";
import { ForgottenRows } from "./forgotten-rows.ts";

let server: TestServer;
/** Called when a start is given up. */
let onGivenUp = (): void => undefined;

beforeAll(async () => {
  server = await startTestServer(
    { max_sessions_per_project: 50 },
    {
      proxied: true,
      aroundPlacement: (placement) =>
        withMembers(placement, {
          acquire(assignment, signal, surroundings) {
            signal?.addEventListener("abort", () => {
              onGivenUp();
            });
            return placement.acquire(assignment, signal, surroundings);
          },
        }),
    },
  );
});
afterAll(() => server.close());

const proxy = () => {
  if (server.proxy === undefined) throw new Error("The server has a proxy.");
  return server.proxy;
};
const standardProject = async () =>
  (await server.database.query.selectFrom("projects").select("id").executeTakeFirstOrThrow()).id;
const rowOf = (id: string) =>
  server.database.query
    .selectFrom("sessions")
    .select(["ended_at", "ended_reason"])
    .where("id", "=", id)
    .executeTakeFirst();
const running = async () =>
  (await server.database.query.selectFrom("sessions").select("id").where("ended_at", "is", null).execute()).length;

it("removes the row of a session whose insertion was not confirmed", async () => {
  const cut = proxy().cutAt("shoal_admit_session", "after");
  const { body, status } = await server.request("POST", "/browsers", { body: { name: "lost" } });
  await cut;
  expect([status, body]).toEqual([503, expect.objectContaining({ code: "database_unavailable" })]);
  await eventually("the removal of the row", async () => (await running()) === 0);
  const again = await server.request("POST", "/browsers", { body: { name: "lost" } });
  expect(again.status, JSON.stringify(again.body)).toBe(200);
  expect((await server.request("DELETE", `/browsers/${Browser.parse(again.body).session_id}`)).status).toBe(204);
});

it("ends the row of a session that ended before its row was inserted", async () => {
  const givenUp = Promise.withResolvers<undefined>();
  onGivenUp = () => {
    givenUp.resolve(undefined);
  };
  const [creating] = await server.database.query.transaction().execute(async (transaction) => {
    // Each insertion of a session waits for this lock.
    await sql`select pg_advisory_xact_lock(1936223073, 27650)`.execute(transaction);
    const created = server.request("POST", "/browsers", { body: { max_duration_seconds: 10 } });
    await givenUp.promise;
    return [created];
  });
  expect((await creating).status).toBeGreaterThanOrEqual(400);
  await eventually("the end of the row", async () => (await running()) === 0);
});

it("ends a row without a session in the second look, and leaves others", async () => {
  const [project_id, serverId] = [await standardProject(), createId()];
  const [lost, here, unwritten, ofOther] = [createId(), createId(), createId(), createId()];
  for (const id of [lost, here, unwritten, ofOther])
    await server.database.query
      .insertInto("sessions")
      .values(sessionRow({ id, project_id, ...(id !== ofOther && { server_id: serverId }) }))
      .execute();
  const store = new SessionStore(server.database);
  const runner = {
    sessions: new Map([[here, undefined as never]]),
    unwritten: new Map([[unwritten, () => store.end(unwritten, new Date().toISOString(), "deleted")]]),
  };
  const rows = new ForgottenRows({ runner, store, serverId, log: silentLog as never });
  await rows.look();
  expect(await rowOf(unwritten)).toMatchObject({ ended_reason: "deleted" });
  expect(runner.unwritten.size).toBe(0);
  expect(await rowOf(lost)).toEqual({ ended_at: null, ended_reason: null });
  await rows.look();
  expect(await rowOf(lost)).toMatchObject({ ended_reason: "instance_lost" });
  for (const id of [here, ofOther]) expect(await rowOf(id)).toEqual({ ended_at: null, ended_reason: null });
});
