import { Browser } from "@shoal/schemas";
import { eventuallyPasses } from "@shoal/testkit";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { connectCdp } from "../../testing/cdp-client.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

// The shortest timeout is ten seconds, so the tests run concurrently.
vi.setConfig({ maxConcurrency: 10 });

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ max_sessions: 20 });
});
afterAll(() => server.close());

async function create(body: object): Promise<Browser> {
  const answer = await server.request("POST", "/browsers", { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return Browser.parse(answer.body);
}
const get = async (id: string) =>
  Browser.parse((await server.request("GET", `/browsers/${id}?include_deleted=true`)).body);
const use = (id: string) => server.request("GET", `/browsers/${id}/fs/list_files?path=/`);
const extend = async (id: string, body: object = {}) =>
  Browser.parse((await server.request("POST", `/browsers/${id}/extend`, { body })).body);
const ms = (moment: string | undefined) => Date.parse(moment ?? "");

async function ended(id: string): Promise<Browser> {
  return eventuallyPasses(async () => {
    const browser = await get(id);
    expect(browser.ended_reason).toBeDefined();
    return browser;
  });
}
/**
 * At most one second early, and far later on a busy machine; `npm run bench -- idle` measures the accuracy.
 */
function expectMoment(actual: string | undefined, expectedMs: number): void {
  expect(ms(actual) - expectedMs).toBeGreaterThan(-1_000);
  expect(ms(actual) - expectedMs).toBeLessThan(60_000);
}

it.concurrent("ends when its timeout has passed since its last use", async () => {
  const { session_id: id } = await create({ timeout_seconds: 40 });
  // A use in between moves the end by this time.
  const unusedMs = 3_000;
  await delay(unusedMs);
  const usedMs = Date.now();
  await use(id);
  await eventuallyPasses(async () => {
    expectMoment((await get(id)).expires_at, usedMs + 40_000);
  });
  const { expires_at } = await get(id);
  const browser = await ended(id);
  expect(browser.ended_reason).toBe("timeout");
  expectMoment(browser.deleted_at, ms(expires_at));
});

it.concurrent("ends at its maximum duration even if it is used, and reports the reason", async () => {
  // The start counts, and several sessions start concurrently here.
  const browser = await create({ timeout_seconds: 600, max_duration_seconds: 45 });
  expect(browser.max_duration_seconds).toBe(45);
  expectMoment(browser.ends_at, ms(browser.created_at) + 45_000);
  const client = await connectCdp(browser.cdp_ws_url);
  expect(await client.send("Browser.getVersion")).toHaveProperty("product");
  await client.closed;
  const after = await ended(browser.session_id);
  expect(after.ended_reason).toBe("max_duration");
  expectMoment(after.deleted_at, ms(browser.ends_at));
  expect(await use(browser.session_id)).toMatchObject({
    status: 404,
    body: { message: expect.stringContaining("max_duration_seconds were over") as unknown },
  });
});

it.concurrent("runs longer when it is extended", async () => {
  // Far longer than the starts of the three sessions and the steps before they are extended.
  const limited = await create({ timeout_seconds: 600, max_duration_seconds: 60 });
  const idle = await create({ timeout_seconds: 60 });
  const unlimited = await create({ timeout_seconds: 600 });
  const runningMs = 5_000;
  await delay(runningMs);
  const extendedMs = Date.now();
  const [moved, same, still] = [
    await extend(limited.session_id, { max_duration_seconds: 300 }),
    await extend(idle.session_id),
    await extend(unlimited.session_id),
  ];
  expect(moved.max_duration_seconds).toBe(300);
  expectMoment(moved.ends_at, extendedMs + 300_000);
  expect([same.ends_at, still.ends_at, still.max_duration_seconds]).toEqual([undefined, undefined, undefined]);
  const givenMs = Date.now();
  const given = await extend(unlimited.session_id, { max_duration_seconds: 10 });
  expectMoment(given.ends_at, givenMs + 10_000);
  // After its first limit.
  await eventuallyPasses(() => {
    expect(Date.now() - ms(limited.created_at)).toBeGreaterThan(62_000);
  });
  expect((await get(limited.session_id)).ended_reason).toBeUndefined();
  expect((await server.request("GET", "/browsers")).body).toEqual(
    expect.arrayContaining([expect.objectContaining({ session_id: limited.session_id })]),
  );
  const afterIdle = await ended(idle.session_id);
  expect(afterIdle.ended_reason).toBe("timeout");
  expect(ms(afterIdle.deleted_at) - ms(idle.created_at)).toBeGreaterThan(64_000);
  expect((await ended(unlimited.session_id)).ended_reason).toBe("max_duration");
  expect((await server.request("DELETE", `/browsers/${limited.session_id}`)).status).toBe(204);
});

it.concurrent("refuses to extend a session that has ended, does not exist, or would last too long", async () => {
  const { session_id: id } = await create({ max_duration_seconds: 604_800 });
  expect(
    await server.request("POST", `/browsers/${id}/extend`, { body: { max_duration_seconds: 604_801 } }),
  ).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining("body.max_duration_seconds") as unknown },
  });
  expect((await extend(id)).max_duration_seconds).toBe(604_800);
  await server.request("DELETE", `/browsers/${id}`);
  expect(await server.request("POST", `/browsers/${id}/extend`)).toMatchObject({ status: 404 });
  expect(await server.request("POST", "/browsers/nothing/extend")).toMatchObject({ status: 404 });
});

it("does not end when the clock jumps", async () => {
  const { session_id: id } = await create({ timeout_seconds: 600, max_duration_seconds: 600 });
  const now = Date.now.bind(Date);
  const clock = vi.spyOn(Date, "now").mockImplementation(() => now() + 86_400_000);
  try {
    expect((await use(id)).status).toBe(200);
  } finally {
    clock.mockRestore();
  }
  // The timers of sessions run each second.
  const timerMs = 1_500;
  await delay(timerMs);
  expect((await use(id)).status).toBe(200);
  expect((await server.request("DELETE", `/browsers/${id}`)).status).toBe(204);
});
