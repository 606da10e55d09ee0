import { Browser, BrowserPool, CreatedApiKey, Profile } from "@shoal/schemas";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { startTestServer, type TestServer } from "../testing/test-server.ts";

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());
afterEach(() => {
  vi.useRealTimers();
});

/** Sets the wall clock of the service only. PostgreSQL, the instances and all timers continue unchanged. */
function jump(byMs: number): void {
  const now = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], shouldAdvanceTime: true, now: now + byMs });
}

const running = async () =>
  ((await server.request("GET", "/browsers")).body as Browser[]).map(({ session_id }) => session_id);

it.each([
  ["an hour ahead", hourMs],
  ["a month ahead", 30 * dayMs],
  ["an hour back", -hourMs],
  ["a month back", -30 * dayMs],
])("ends no session and no lease when the clock jumps %s", async (_name, byMs) => {
  const { session_id } = Browser.parse(
    (await server.request("POST", "/browsers", { body: { timeout_seconds: 300 } })).body,
  );
  const pool = BrowserPool.parse(
    (
      await server.request("POST", "/browser_pools", {
        body: { size: 1, fill_rate_per_minute: 100_000, timeout_seconds: 300 },
      })
    ).body,
  );
  const leased = Browser.parse(
    (await server.request("POST", `/browser_pools/${pool.id}/acquire`, { body: { acquire_timeout_seconds: 60 } })).body,
  );
  jump(byMs);
  // Anything that measures wall-clock time would react before these requests are done.
  for (const id of [session_id, leased.session_id])
    expect(await server.request("POST", `/browsers/${id}/process/exec`, { body: { command: "true" } })).toMatchObject({
      status: 200,
    });
  expect((await running()).sort()).toEqual([session_id, leased.session_id].sort());
  vi.useRealTimers();
  for (const id of [session_id, leased.session_id])
    expect(await server.request("GET", `/browsers/${id}`)).toMatchObject({ status: 200 });
  expect(
    (await server.request("POST", `/browser_pools/${pool.id}/release`, { body: { session_id: leased.session_id } }))
      .status,
  ).toBe(204);
  expect((await server.request("DELETE", `/browser_pools/${pool.id}`, { body: { force: true } })).status).toBe(204);
  expect((await server.request("DELETE", `/browsers/${session_id}`)).status).toBe(204);
  await expect.poll(running).toEqual([]);
});

it("applies the clock to expiring keys, forwards and back", async () => {
  const { id, key } = CreatedApiKey.parse(
    (await server.request("POST", "/org/api_keys", { body: { name: "short", days_to_expire: 2 } })).body,
  );
  const opens = async () => (await server.request("GET", "/profiles", { key })).status;
  expect(await opens()).toBe(200);
  jump(2 * dayMs - hourMs);
  expect(await opens()).toBe(200);
  vi.useRealTimers();
  jump(2 * dayMs + hourMs);
  expect(await opens()).toBe(401);
  expect(await server.request("GET", `/org/api_keys/${id}`)).toMatchObject({ status: 200 });
  vi.useRealTimers();
  expect(await opens()).toBe(200);
  // After the clock is set back, timestamps in the future must not cause a refusal.
  jump(-30 * dayMs);
  expect(await opens()).toBe(200);
});

it("replays the answer to a repeated POST after the clock was set back", async () => {
  const post = () =>
    server.request("POST", "/profiles", { body: { name: "once" }, headers: { "idempotency-key": "across-the-jump" } });
  const first = Profile.parse((await post()).body);
  jump(-6 * hourMs);
  expect(Profile.parse((await post()).body)).toEqual(first);
  vi.useRealTimers();
  jump(6 * hourMs);
  expect(Profile.parse((await post()).body)).toEqual(first);
});
