import { createId } from "@shoal/primitives";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { blockedStatements } from "../../testing/blocked-statements.ts";
import { sessionRow } from "../../testing/session-row.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

it("keeps the limit of links of a session when requests arrive at the same time", async () => {
  const { id: projectId } = await server.database.query
    .selectFrom("projects")
    .select("id")
    .where("is_default", "=", true)
    .executeTakeFirstOrThrow();
  const sessions = [createId(), createId()];
  for (const id of sessions)
    await server.database.query
      .insertInto("sessions")
      .values(sessionRow({ id, project_id: projectId }))
      .execute();
  const [first = "", second = ""] = sessions;
  const create = (id: string) =>
    server.request("POST", `/browsers/${id}/live_view_links`, { body: { expires_in_seconds: 600 } });
  for (let count = 0; count < 98; count += 1) expect((await create(first)).status).toBe(201);
  // Inserts wait until several requests have counted, or wait for their turn.
  const made = await server.database.query.transaction().execute(async (transaction) => {
    await sql`lock table live_view_links in share row exclusive mode`.execute(transaction);
    const calls = Array.from({ length: 5 }, () => create(first));
    await expect.poll(() => blockedStatements(server.database)).toBeGreaterThan(2);
    return calls;
  });
  const all = await Promise.all(made);
  const refused = all.filter(({ status }) => status === 409);
  expect(all.filter(({ status }) => status === 201)).toHaveLength(2);
  expect(refused).toHaveLength(3);
  expect(refused[0]?.body).toMatchObject({ code: "conflict", limit: 100 });
  // Another session has its own limit, and a deleted link makes room.
  expect((await create(second)).status).toBe(201);
  const { id: linkId } = all.find(({ status }) => status === 201)?.body as { id: string };
  expect((await server.request("DELETE", `/browsers/${first}/live_view_links/${linkId}`)).status).toBe(204);
  expect((await create(first)).status).toBe(201);
  expect((await create(first)).status).toBe(409);
});
