import { Browser, BrowserPool } from "@shoal/schemas";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { completeConfig } from "../../config/config.ts";
import type { RunningServer } from "../../main/running-server.ts";
import { startServer } from "../../main/server.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { unlimited } from "../../testing/unlimited.ts";

/** Enough for long queues at both servers. */
const callers = 80;
const secretKey = "the same on both servers, 32 characters";
let first: TestServer;
let second: RunningServer;
beforeAll(async () => {
  first = await startTestServer({ secret_key: secretKey, max_sessions: 20 });
  const config = completeConfig({
    data_dir: join(first.dataDir, "..", "second"),
    secret_key: secretKey,
    port: 0,
    placement: "process",
    warm: 0,
    max_sessions: 20,
    log_level: "silent",
    ...unlimited,
  });
  second = await startServer(config, { database: { ...first.database, close: () => Promise.resolve() } });
});
afterAll(async () => {
  await second.close();
  await first.close();
});

it(`leases a different browser to each of ${String(callers)} callers of two servers from a pool of 10, and loses none`, async () => {
  const servers = [first.baseUrl, second.baseUrl];
  async function send(server: number, path: string, body: object): Promise<Response> {
    return fetch(`${servers[server] ?? ""}/browser_pools${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${first.key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  }
  const { id } = BrowserPool.parse(await (await send(0, "", { size: 10, fill_rate_per_minute: 100_000 })).json());
  const held = new Set<string>();
  const seen = new Set<string>();
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      const server = caller % 2;
      const reply = await send(server, `/${id}/acquire`, { acquire_timeout_seconds: 600 });
      expect(reply.status).toBe(200);
      const { session_id } = Browser.parse(await reply.json());
      expect(seen.has(session_id)).toBe(false);
      seen.add(session_id);
      held.add(session_id);
      expect(held.size).toBeLessThanOrEqual(10);
      const files = await fetch(`${servers[server] ?? ""}/browsers/${session_id}/fs/list_files?path=/`, {
        headers: { authorization: `Bearer ${first.key}` },
      });
      expect(files.status).toBe(200);
      await files.arrayBuffer();
      held.delete(session_id);
      expect((await send(1 - server, `/${id}/release`, { session_id })).status).toBe(204);
    }),
  );
  expect(seen.size).toBe(callers);
  const pool = async () => (await first.request("GET", `/browser_pools/${id}`)).body;
  await expect.poll(pool).toMatchObject({ available_count: 10, acquired_count: 0 });
  expect(await first.database.query.selectFrom("browser_pool_waiters").select("id").execute()).toEqual([]);
});
