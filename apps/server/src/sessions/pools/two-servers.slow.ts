import { Browser, BrowserPool } from "@shoal/schemas";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunningServer } from "../../main/running-server.ts";
import { sharedSecret, startSecondServer } from "../../testing/second-server.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let first: TestServer;
let second: RunningServer;
let servers: readonly string[];

beforeAll(async () => {
  first = await startTestServer({ secret_key: sharedSecret, max_sessions: 8 });
  second = await startSecondServer(first, { max_sessions: 8 });
  servers = [first.baseUrl, second.baseUrl];
});
afterAll(async () => {
  await second.close();
  await first.close();
});

async function send(
  server: number,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${servers[server] ?? ""}${path}`, {
    method,
    headers: { authorization: `Bearer ${first.key}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}

const create = async (size: number) =>
  BrowserPool.parse((await send(0, "POST", "/browser_pools", { size, fill_rate_per_minute: 100_000 })).body).id;
const release = (server: number, id: string, session_id: string) =>
  send(server, "POST", `/browser_pools/${id}/release`, { session_id });

async function lease(server: number, id: string): Promise<string> {
  const { status, body } = await send(server, "POST", `/browser_pools/${id}/acquire`, { acquire_timeout_seconds: 60 });
  expect(status, JSON.stringify(body)).toBe(200);
  return Browser.parse(body).session_id;
}

const counts = async (id: string) => {
  const { available_count, acquired_count } = BrowserPool.parse((await send(1, "GET", `/browser_pools/${id}`)).body);
  return [available_count, acquired_count];
};
/** Returns the server that runs a session: 0 or 1. */
const placeOf = async (session: string) => {
  const { server_id } = await first.database.query
    .selectFrom("sessions")
    .select("server_id")
    .where("id", "=", session)
    .executeTakeFirstOrThrow();
  return server_id === readFileSync(join(first.dataDir, "server-id"), "utf8").trim() ? 0 : 1;
};
/** True if the session answers through that server. */
const answers = async (server: number, session: string) =>
  (await send(server, "GET", `/browsers/${session}/fs/list_files?path=/`)).status;
const waiters = async (id: string) =>
  (await first.database.query.selectFrom("browser_pool_waiters").select("id").where("pool_id", "=", id).execute())
    .length;

it("leases a browser of the requested server, in place of a warm one on the other server", async () => {
  const id = await create(2);
  await expect.poll(() => counts(id)).toEqual([2, 0]);
  const sessions = [await lease(0, id), await lease(0, id)];
  for (const session of sessions) await release(1, id, session);
  // Either server may have filled the slots; each finds a browser that it runs.
  await expect.poll(() => counts(id)).toEqual([2, 0]);
  const [here, there] = [await lease(0, id), await lease(1, id)];
  expect([await placeOf(here), await placeOf(there)]).toEqual([0, 1]);
  expect([await answers(0, here), await answers(1, here), await answers(1, there), await answers(0, there)]).toEqual([
    200, 200, 200, 200,
  ]);
  await expect.poll(() => counts(id)).toEqual([0, 2]);
  // A browser that is released through the other server ends where it runs.
  for (const [server, session] of [
    [1, here],
    [0, there],
  ] as const)
    expect((await release(server, id, session)).status).toBe(204);
  await expect.poll(() => answers(0, here)).toBe(404);
  await expect.poll(() => answers(1, there)).toBe(404);
  await expect.poll(() => counts(id)).toEqual([2, 0]);
  expect((await send(1, "DELETE", `/browser_pools/${id}`)).status).toBe(204);
});

it("serves callers of both servers in order, each with a separate browser, and never runs more than its size", async () => {
  const id = await create(2);
  const held = new Set([await lease(0, id), await lease(1, id)]);
  const begin = [...held];
  const order: number[] = [];
  const seen = new Set(held);
  const callers: Promise<void>[] = [];
  for (let caller = 0; caller < 10; caller += 1) {
    callers.push(
      lease(caller % 2, id).then(async (session) => {
        order.push(caller);
        expect(seen.has(session)).toBe(false);
        seen.add(session);
        held.add(session);
        expect(held.size).toBeLessThanOrEqual(2);
        expect(await placeOf(session)).toBe(caller % 2);
        expect(await answers(caller % 2, session)).toBe(200);
        const rows = await first.database.query
          .selectFrom("sessions")
          .select("id")
          .where("pool_id", "=", id)
          .where("ended_at", "is", null)
          .execute();
        expect(rows.length).toBeLessThanOrEqual(2);
        held.delete(session);
        expect((await release((caller + 1) % 2, id, session)).status).toBe(204);
      }),
    );
    // Reported below.
    callers[caller]?.catch(() => undefined);
    await expect.poll(() => waiters(id)).toBe(caller + 1);
  }
  for (const session of begin) {
    held.delete(session);
    await release(0, id, session);
  }
  await Promise.all(callers);
  // Two slots: when a caller is served, at most one earlier caller still is.
  const isOutOfOrder = order.some((late, place) => order.slice(place).filter((caller) => caller < late).length > 1);
  expect(isOutOfOrder, order.join()).toBe(false);
  expect((await send(0, "DELETE", `/browser_pools/${id}`)).status).toBe(204);
});

it("fills again on the other server when a server stops, and its callers are refused", async () => {
  const id = await create(1);
  const session = await lease(1, id);
  const waiting = send(1, "POST", `/browser_pools/${id}/acquire`, { acquire_timeout_seconds: 60 });
  waiting.catch(() => undefined);
  await expect.poll(() => waiters(id)).toBe(1);
  // A long grace period, so that no answer is cut off.
  await second.close(20_000);
  expect(await waiting).toMatchObject({ status: 503, body: { code: "shutting_down" } });
  expect((await send(0, "GET", `/browsers/${session}?include_deleted=true`)).body).toMatchObject({
    ended_reason: "server_stopped",
  });
  expect(await answers(0, await lease(0, id))).toBe(200);
});
