import { createId } from "@shoal/primitives";
import { BrowserPool } from "@shoal/schemas";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { PoolWaiters } from "./pool-waiters.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterEach(() => {
  vi.useRealTimers();
});
afterAll(() => server.close());

it("keeps a caller that waits on a server whose clock is an hour behind", async () => {
  const pool = await server.request("POST", "/browser_pools", { body: { size: 1, fill_rate_per_minute: 0 } });
  const { id: pool_id } = BrowserPool.parse(pool.body);
  // The keeper of this server leaves it alone.
  await server.database.query.updateTable("browser_pools").set({ region: "elsewhere" }).execute();
  const { id: server_id } = await server.database.query.selectFrom("servers").select("id").executeTakeFirstOrThrow();
  const [waiters, id] = [new PoolWaiters(server.database), createId()];
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 3_600_000 });
  await waiters.add({ id, pool_id, server_id, ms: 600_000 });
  await waiters.removeLost();
  expect(await waiters.remove(id)).toBe(true);
});
