import { createId } from "@shoal/primitives";
import { BrowserPool } from "@shoal/schemas";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sessionRow } from "../../testing/session-row.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

async function poolWithBrowser(): Promise<string> {
  const created = await server.request("POST", "/browser_pools", { body: { size: 1 } });
  const { id } = BrowserPool.parse(created.body);
  await expect
    .poll(async () => BrowserPool.parse((await server.request("GET", `/browser_pools/${id}`)).body).available_count)
    .toBe(1);
  return id;
}

it("ends browsers of a deleted pool although the server did not hear of it", async () => {
  const id = await poolWithBrowser();
  expect(server.running.sessionCount()).toBe(1);
  await server.database.query.transaction().execute(async (transaction) => {
    // Without triggers, so without notifications.
    await sql`set local session_replication_role = replica`.execute(transaction);
    await transaction.deleteFrom("sessions").where("pool_id", "=", id).execute();
    await transaction.deleteFrom("browser_pools").where("id", "=", id).execute();
  });
  await expect.poll(() => server.running.sessionCount()).toBe(0);
});

it("ends a browser that another server released although this one did not hear of it", async () => {
  const id = await poolWithBrowser();
  const { rows } = await server.database.query.transaction().execute(async (transaction) => {
    await sql`set local session_replication_role = replica`.execute(transaction);
    const ended = await sql<{
      id: string;
      project_id: string;
    }>`update sessions set ended_at = now(), ended_reason = 'deleted' where pool_id = ${id}
      returning id, project_id`.execute(transaction);
    // The other server has replaced it.
    await transaction
      .insertInto("sessions")
      .values(
        sessionRow({ id: createId(), project_id: ended.rows[0]?.project_id ?? "", pool_id: id, pool_state: "warm" }),
      )
      .execute();
    return ended;
  });
  expect(rows).toHaveLength(1);
  await expect.poll(() => server.running.sessionCount()).toBe(0);
});
