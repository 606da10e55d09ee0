import { examineHost } from "@shoal/placement";
import { Browser, BrowserPool } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

const { placement } = await examineHost();
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ max_sessions: 6, placement });
});
afterAll(() => server.close());

async function create(body: object): Promise<BrowserPool> {
  return BrowserPool.parse((await server.request("POST", "/browser_pools", { body: { size: 1, ...body } })).body);
}
const patch = (id: string, body: object) => server.request("PATCH", `/browser_pools/${id}`, { body });
const acquire = (id: string, body: object) =>
  server.request("POST", `/browser_pools/${id}/acquire`, { body: { acquire_timeout_seconds: 60, ...body } });
const remove = (id: string) => server.request("DELETE", `/browser_pools/${id}`, { body: { force: true } });
const fillsSlowly = { fill_rate_per_minute: 0 };

it("changes only while its network settings are the expected ones", async () => {
  const { body } = await server.request("POST", "/proxies", {
    body: { name: "way", type: "custom", config: { host: "proxy.example.com", port: 8080 } },
  });
  const proxy = (body as { id: string }).id;
  const pool = await create(fillsSlowly);
  const routes = [{ hosts: ["A.example"], proxy: { name: "way" } }];
  const first = await patch(pool.id, { expected_network: {}, network: { proxy_routes: routes, deny: ["x.example"] } });
  const { network } = BrowserPool.parse(first.body).browser_pool_config;
  expect(network).toEqual({ proxy_routes: [{ hosts: ["a.example"], proxy: { id: proxy } }], deny: ["x.example"] });
  for (const expected_network of [{}, { ...network, private_hosts: [] }, { ...network, proxy_routes: routes }])
    expect(await patch(pool.id, { expected_network, network: {}, size: 2 })).toMatchObject({
      status: 409,
      body: { code: "stale_network" },
    });
  expect((await patch(pool.id, { network: { proxy_routes: [] } })).status).toBe(200);
  expect((await patch(pool.id, { expected_network: {}, network: {} })).status).toBe(409);
  const last = await patch(pool.id, { expected_network: { proxy_routes: [] }, network: {} });
  expect(BrowserPool.parse(last.body).browser_pool_config).not.toHaveProperty("network");
  expect(BrowserPool.parse(last.body).browser_pool_config.size).toBe(1);
  await remove(pool.id);
});

it.skipIf(placement !== "sandbox")("refuses a start page outside of its allowed hosts, after each change", async () => {
  const config = { ...fillsSlowly, network: { allowed_hosts: ["a.example"] } };
  const outside = { status: 400, body: { message: expect.stringMatching(/start_url/) as string } };
  expect(
    await server.request("POST", "/browser_pools", { body: { size: 1, ...config, start_url: "http://b.example" } }),
  ).toMatchObject(outside);
  const pool = await create({ ...config, start_url: "http://a.example" });
  expect(await patch(pool.id, { network: { allowed_hosts: ["c.example"] } })).toMatchObject(outside);
  expect(await patch(pool.id, { start_url: "http://c.example" })).toMatchObject(outside);
  expect(await acquire(pool.id, { start_url: "http://c.example" })).toMatchObject(outside);
  const webRtc = { chrome_policy: { WebRtcIPHandling: "default" } };
  expect(await patch(pool.id, webRtc)).toMatchObject({ status: 400 });
  await remove(pool.id);
});

it("leases a browser with another profile, and saves nothing to it", async () => {
  const profile = (await server.request("POST", "/profiles", { body: { name: "leased" } })).body as { id: string };
  const pool = await create({ fill_rate_per_minute: 100_000 });
  expect(await acquire(pool.id, { profile: { name: "missing" } })).toMatchObject({ status: 404 });
  expect(await acquire(pool.id, { profile: { name: "leased", save_changes: true } })).toMatchObject({ status: 400 });
  const reply = await acquire(pool.id, { profile: { name: "leased" }, start_url: "about:blank#a" });
  expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 200 });
  const leased = Browser.parse(reply.body);
  expect(leased).toMatchObject({
    profile: { id: profile.id },
    profile_save_changes: false,
    start_url: "about:blank#a",
  });
  await server.request("POST", `/browser_pools/${pool.id}/release`, { body: { session_id: leased.session_id } });
  expect(Browser.parse((await acquire(pool.id, {})).body)).not.toHaveProperty("profile");
  expect((await server.request("GET", `/profiles/${profile.id}`)).body).not.toHaveProperty("version");
  await remove(pool.id);
  const own = await create({ ...fillsSlowly, profile: { name: "leased" } });
  expect(await acquire(own.id, { profile: { name: "leased" } })).toMatchObject({ status: 409 });
  await remove(own.id);
});
