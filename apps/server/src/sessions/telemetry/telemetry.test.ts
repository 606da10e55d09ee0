import { Browser } from "@shoal/schemas";
import { eventually, eventuallyPasses } from "@shoal/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { connectCdp } from "../../testing/cdp-client.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

interface Envelope {
  readonly seq: number;
  readonly event: { readonly type: string; readonly data?: Readonly<Record<string, unknown>> };
}

async function create(telemetry: object): Promise<Browser> {
  const { body, status } = await server.request("POST", "/browsers", { body: { timeout_seconds: 3600, telemetry } });
  expect(status, JSON.stringify(body)).toBe(200);
  return Browser.parse(body);
}
async function events(id: string, query = "since=1h&limit=100"): Promise<Envelope[]> {
  const { body, status } = await server.request("GET", `/browsers/${id}/telemetry/events?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as Envelope[];
}
async function waitFor(id: string, type: string): Promise<Envelope[]> {
  return eventuallyPasses(async () => {
    const found = (await events(id)).filter(({ event }) => event.type === type);
    expect(found).not.toEqual([]);
    return found;
  });
}

it("stores all events of a session, up to its end", async () => {
  const browser = await create({ browser: { console: { enabled: true }, platform: { enabled: true } } });
  const id = browser.session_id;
  expect(browser.telemetry?.browser).toMatchObject({
    console: { enabled: true },
    control: { enabled: true },
    network: { enabled: false },
  });
  const cdp = await connectCdp(browser.cdp_ws_url);
  cdp.close();
  await waitFor(id, "cdp_disconnect");
  const call = () => server.request("GET", `/browsers/${id}/fs/list_files?path=/home/shoal`);
  await Promise.all(Array.from({ length: 50 }, call));
  await server.request("DELETE", `/browsers/${id}`);
  // The first question waits for the last events.
  const kept = await events(id);
  expect(kept.filter(({ event }) => event.type === "platform_api_call")).toHaveLength(50);
  expect(kept.map(({ seq }) => seq)).toEqual(kept.map((_, index) => index + 1));
  const { body } = await server.request("GET", `/browsers/${id}?include_deleted=true`);
  expect(Browser.parse(body).telemetry).toEqual(browser.telemetry);
  expect(
    await server.request("GET", `/browsers/${id}/telemetry/events`, { key: (await server.addProject("another")).key }),
  ).toMatchObject({
    status: 404,
  });
  expect(await server.request("GET", `/browsers/${id}/telemetry/events?order=desc&since=5m`)).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining("query.since") as unknown },
  });
});

it("switches while the session runs", async () => {
  const browser = await create({});
  const id = browser.session_id;
  expect(browser.telemetry).toBeUndefined();
  const call = () => server.request("POST", `/browsers/${id}/observe`, { body: {} });
  const update = async (telemetry: object) => {
    const { body, status } = await server.request("PATCH", `/browsers/${id}`, { body: { telemetry } });
    expect(status, JSON.stringify(body)).toBe(200);
    return Browser.parse(body).telemetry?.browser;
  };
  await call();
  expect(await update({ enabled: true })).toMatchObject({ control: { enabled: true }, console: { enabled: false } });
  await call();
  expect(await waitFor(id, "api_call")).toHaveLength(1);
  expect(await update({ browser: { console: {} } })).toMatchObject({
    console: { enabled: true },
    control: { enabled: true },
  });
  expect(await update({ enabled: false })).toBeUndefined();
  await call();
  expect(await update({ browser: { control: {} } })).toMatchObject({ control: { enabled: true } });
  expect((await events(id)).filter(({ event }) => event.type === "api_call")).toHaveLength(1);
  expect(
    await server.request("PATCH", `/browsers/${id}`, {
      body: { telemetry: { enabled: false, browser: { page: {} } } },
    }),
  ).toMatchObject({
    status: 400,
  });
  await server.request("DELETE", `/browsers/${id}`);
});

it("keeps the received events of a killed instance", async () => {
  const { session_id } = await create({ enabled: true });
  await server.request("POST", `/browsers/${session_id}/observe`, { body: {} });
  await waitFor(session_id, "api_call");
  const line = await eventually("the start is logged", () =>
    server
      .log()
      .split("\n")
      .find((text) => text.includes(session_id) && text.includes("session started")),
  );
  process.kill((JSON.parse(line) as { pid: number }).pid, "SIGKILL");
  await expect
    .poll(
      async () =>
        Browser.parse((await server.request("GET", `/browsers/${session_id}?include_deleted=true`)).body).ended_reason,
    )
    .toBe("instance_lost");
  expect(await waitFor(session_id, "api_call")).toHaveLength(1);
});

it("returns no events for a session without telemetry, and none for an unknown session", async () => {
  const { session_id } = await create({});
  expect(await events(session_id)).toEqual([]);
  await server.request("DELETE", `/browsers/${session_id}`);
  expect(await events(session_id)).toEqual([]);
  expect(await server.request("GET", "/browsers/nothing/telemetry/events")).toMatchObject({ status: 404 });
});
