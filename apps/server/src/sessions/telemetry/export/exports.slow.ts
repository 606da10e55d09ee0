import { Browser, OtlpDestination } from "@shoal/schemas";
import { eventuallyPasses } from "@shoal/testkit";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { connectCdp } from "../../../testing/cdp-client.ts";
import { type CollectedRecord, startCollector, type TestCollector } from "../../../testing/otlp-collector.ts";
import { startTestServer, type TestServer } from "../../../testing/test-server.ts";

const secret = "s3cret-of-a-collector";
const metricsToken = "metrics-of-these-tests";
let server: TestServer;
let collector: TestCollector;
let site: Server;
let siteUrl: string;
let destination: OtlpDestination;

beforeAll(async () => {
  collector = await startCollector();
  site = createServer((_request, response) =>
    response
      .writeHead(200, { "content-type": "text/html" })
      .end("<title>site</title><script>console.warn('heard', 42); console.error('broken');</script>"),
  );
  await once(site.listen(0, "127.0.0.1"), "listening");
  siteUrl = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}/`;
  server = await startTestServer({ allow_private_hosts: ["127.0.0.1"], metrics_token: metricsToken });
  const made = await server.request("POST", "/telemetry/destinations", {
    body: {
      name: "collector",
      endpoint: `${collector.url}/base`,
      headers: { authorization: `Bearer ${secret}`, "X-Tenant": "t1" },
    },
  });
  destination = OtlpDestination.parse(made.body);
});
afterAll(async () => {
  await server.close();
  collector.down();
  site.close();
});
beforeEach(() => {
  collector.respond = () => true;
});

const toCollector = { export: { otlp: { destination: { name: "collector" } } } };

async function create(telemetry: object, rest: object = {}): Promise<Browser> {
  const { body, status } = await server.request("POST", "/browsers", {
    body: { timeout_seconds: 600, telemetry, ...rest },
  });
  expect(status, JSON.stringify(body)).toBe(200);
  return Browser.parse(body);
}
const call = async (id: string) => {
  expect((await server.request("POST", `/browsers/${id}/observe`, { body: {} })).status).toBe(200);
};
const update = (id: string, telemetry: object) => server.request("PATCH", `/browsers/${id}`, { body: { telemetry } });
const end = (id: string) => server.request("DELETE", `/browsers/${id}`);
const recordsOf = (id: string) => collector.records.filter(({ resource }) => resource["shoal.session.id"] === id);
const calls = (id: string) => recordsOf(id).filter(({ eventName }) => eventName === "api_call");
const seqs = (records: readonly CollectedRecord[]) => records.map(({ attributes }) => attributes["shoal.seq"]);
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
async function metric(name: string): Promise<number> {
  const text = await (
    await fetch(`${server.baseUrl}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })
  ).text();
  return Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${name} `))
      ?.split(" ")[1],
  );
}
/** Events in transit during a change count as after it. */
const kept = (id: string, count: number) =>
  eventuallyPasses(async () => {
    expect((await server.request("GET", `/browsers/${id}/telemetry/events?since=1h&limit=100`)).body).toHaveLength(
      count,
    );
  });

it("sends console and network events as log records, with session attributes and headers, until the end of the session", async () => {
  const browser = await create(
    { browser: { console: {}, network: {}, page: {} }, ...toCollector },
    { name: "exported", tags: { team: "blue" }, start_url: siteUrl },
  );
  const id = browser.session_id;
  expect(browser.telemetry).toMatchObject({
    browser: { console: { enabled: true } },
    export: { otlp: { destination: destination.id, enabled: true } },
  });
  const named = async (name: string) =>
    eventuallyPasses(() => {
      const found = recordsOf(id).find(({ eventName }) => eventName === name);
      if (found === undefined)
        throw new Error(
          `No ${name} among ${recordsOf(id)
            .map(({ eventName }) => eventName)
            .join(", ")}.`,
        );
      return found;
    });
  const line = await named("console_log");
  expect(line).toMatchObject({
    scope: "shoal.telemetry",
    body: "heard",
    severity: 13,
    severityText: "WARN",
    resource: {
      "service.name": "shoal",
      "shoal.session.id": id,
      "shoal.project.id": expect.any(String) as unknown,
      "shoal.session.name": "exported",
      "shoal.session.tag.team": "blue",
    },
    attributes: {
      "shoal.category": "console",
      "shoal.source": "cdp",
      "shoal.data.args": ["heard", "42"],
      "shoal.data.level": "warning",
      "url.full": siteUrl,
    },
  });
  expect(line.observedTime).toBe(line.time);
  expect(Math.abs(Number(line.time / 1_000_000n) - Date.now())).toBeLessThan(120_000);
  expect(await named("console_error")).toMatchObject({ body: "broken", severity: 17 });
  expect(await named("network_request")).toMatchObject({
    severity: 9,
    attributes: { "url.full": expect.stringContaining("http://127.0.0.1") as unknown, "http.request.method": "GET" },
  });
  expect(await named("network_response")).toMatchObject({ attributes: { "http.response.status_code": 200 } });
  expect(collector.requests.at(-1)).toMatchObject({
    url: "POST /base/v1/logs",
    headers: { authorization: `Bearer ${secret}`, "x-tenant": "t1", "content-type": "application/x-protobuf" },
  });

  // The last event.
  await server.request("PATCH", `/browsers/${id}`, { body: { name: "renamed" } });
  const cdp = await connectCdp(browser.cdp_ws_url);
  cdp.close();
  await cdp.closed;
  await call(id);
  await end(id);
  await eventuallyPasses(() => {
    expect(calls(id)).toHaveLength(1);
  });
  expect(calls(id)[0]).toMatchObject({
    resource: { "shoal.session.name": "renamed" },
    attributes: { "http.response.status_code": 200, "shoal.data.operation_id": expect.any(String) as unknown },
  });
  // The last events may be written a moment after the session's end.
  await eventuallyPasses(async () => {
    const kept = (await server.request("GET", `/browsers/${id}/telemetry/events?since=1h&limit=100`)).body as {
      seq: number;
    }[];
    expect(seqs(recordsOf(id))).toEqual(upTo(Math.max(...kept.map(({ seq }) => seq))));
  });
});

it("loses and duplicates no events while the collector is unavailable, rejects temporarily, or answers late", async () => {
  const { session_id: id } = await create(toCollector);
  await call(id);
  await eventuallyPasses(() => {
    expect(calls(id)).toHaveLength(1);
  });
  collector.down();
  const retriesBefore = await metric("shoal_telemetry_export_retries_total");
  await call(id);
  await eventuallyPasses(async () => {
    expect(await metric("shoal_telemetry_export_retries_total")).toBeGreaterThan(retriesBefore);
  });
  await call(id);
  const busy = { 429: 1, 503: 1 };
  const told: number[] = [];
  collector.respond = (_request, response) => {
    const status = busy[429] > 0 ? 429 : 503;
    if (busy[status] === 0) return true;
    busy[status] -= 1;
    told.push(performance.now());
    response.writeHead(status, { "retry-after": "1" }).end();
    return false;
  };
  collector.up();
  await eventuallyPasses(() => {
    expect(calls(id)).toHaveLength(3);
  });
  expect(told).toHaveLength(2);
  // A timer may be some milliseconds early.
  expect((told[1] ?? 0) - (told[0] ?? 0)).toBeGreaterThan(950);
  expect(seqs(recordsOf(id))).toEqual(upTo(3));
  await end(id);
});

it("shows how often in a row a destination did not take events, and why", async () => {
  const { session_id: id } = await create(toCollector);
  const shown = async () =>
    OtlpDestination.parse((await server.request("GET", "/telemetry/destinations/collector")).body);
  collector.respond = (_request, response) => {
    response.writeHead(503).end();
    return false;
  };
  await call(id);
  await eventuallyPasses(async () => {
    const { consecutive_failures, last_error } = await shown();
    expect(consecutive_failures).toBeGreaterThan(0);
    expect(last_error).toBe("it answered 503");
  });
  collector.respond = () => true;
  await eventuallyPasses(async () => {
    expect((await shown()).consecutive_failures).toBe(0);
  });
  const { last_error, last_error_at = "", last_export_at = "" } = await shown();
  expect(last_error).toBe("it answered 503");
  expect(Date.parse(last_export_at)).toBeGreaterThanOrEqual(Date.parse(last_error_at));
  await end(id);
});

it("sends all events of a busy page in requests of limited size", async () => {
  const count = 3_000;
  const { session_id: id } = await create({ browser: { console: {} }, ...toCollector });
  const before = collector.requests.length;
  expect(
    (
      await server.request("POST", `/browsers/${id}/playwright/execute`, {
        body: {
          code: `await page.evaluate(() => { for (let i = 0; i < ${String(count)}; i += 1) console.log("line " + i, "x".repeat(i % 1000)); })`,
        },
      })
    ).status,
  ).toBe(200);
  const lines = () => recordsOf(id).filter(({ eventName }) => eventName === "console_log");
  await eventuallyPasses(() => {
    expect(lines()).toHaveLength(count);
  });
  expect(lines().map(({ body }) => body)).toEqual(Array.from({ length: count }, (_, index) => `line ${String(index)}`));
  await end(id);
  const sizes = collector.requests
    .slice(before)
    .map(({ records, headers }) => ({ events: records.length, bytes: Number(headers["content-length"]) }));
  for (const { events, bytes } of sizes) {
    expect(events).toBeLessThanOrEqual(512);
    expect(bytes).toBeLessThan(2 ** 20);
  }
});

it("can be started, stopped and redirected while the session runs", async () => {
  const other = await startCollector();
  try {
    await server.request("POST", "/telemetry/destinations", { body: { name: "other", endpoint: other.url } });
    const { session_id: id, telemetry } = await create({ enabled: true });
    expect(telemetry).not.toHaveProperty("export");
    await call(id);
    await kept(id, 1);
    expect(await update(id, { export: { otlp: { enabled: true } } })).toMatchObject({
      status: 400,
      body: {
        message: expect.stringContaining(
          "body.telemetry.export.otlp.destination: expected the id or the name",
        ) as unknown,
      },
    });
    expect(await update(id, toCollector)).toMatchObject({
      status: 200,
      body: { telemetry: { export: { otlp: { destination: destination.id } } } },
    });
    await call(id);
    await eventuallyPasses(() => {
      expect(calls(id)).toHaveLength(1);
    });
    expect(await update(id, { export: { otlp: { enabled: true } } })).toMatchObject({
      status: 200,
      body: { telemetry: { export: { otlp: { destination: destination.id } } } },
    });
    await update(id, { export: { otlp: { destination: { name: "other" } } } });
    await call(id);
    const elsewhere = () => other.records.filter(({ eventName }) => eventName === "api_call");
    await eventuallyPasses(() => {
      expect(elsewhere()).toHaveLength(1);
    });
    expect(JSON.stringify(other.requests.map(({ headers }) => headers))).not.toContain(secret);
    const stopped = await update(id, { export: { otlp: { enabled: false } } });
    expect((stopped.body as Browser).telemetry).not.toHaveProperty("export");
    await call(id);
    await kept(id, 4);
    await update(id, toCollector);
    await call(id);
    await eventuallyPasses(() => {
      expect(calls(id)).toHaveLength(2);
    });
    expect((await update(id, { enabled: false })).body).not.toHaveProperty("telemetry");
    await end(id);
    expect(elsewhere()).toHaveLength(1);
    // The first call came before the export, the fourth while it was off.
    expect([...seqs(calls(id)), ...seqs(elsewhere())].sort()).toEqual([2, 3, 5]);
    expect(await server.request("DELETE", "/telemetry/destinations/other")).toMatchObject({ status: 204 });
  } finally {
    other.down();
  }
});

it("uses the current headers and URL of the destination for each request", async () => {
  const { session_id: id } = await create(toCollector);
  const last = () =>
    collector.requests.findLast(({ records }) => records.some(({ resource }) => resource["shoal.session.id"] === id));
  await call(id);
  await eventuallyPasses(() => {
    expect(last()?.headers).toMatchObject({ "x-tenant": "t1" });
  });
  const change = async (body: object) => {
    expect((await server.request("PATCH", "/telemetry/destinations/collector", { body })).status).toBe(200);
  };
  await change({ endpoint: `${collector.url}/other`, headers: { "x-tenant": "t2", authorization: null } });
  await call(id);
  await eventuallyPasses(() => {
    expect(last()).toMatchObject({ url: "POST /other/v1/logs", headers: { "x-tenant": "t2" } });
  });
  expect(last()?.headers).not.toHaveProperty("authorization");
  await change({ endpoint: `${collector.url}/base`, headers: { authorization: `Bearer ${secret}` } });
  await end(id);
});

it("accepts an existing destination, and names the field of an unknown one", async () => {
  const wanted = "body.telemetry.export.otlp.destination";
  const unknown = { status: 404, body: { code: "not_found", message: expect.stringContaining(wanted) as unknown } };
  for (const named of [{ name: "nobody" }, { id: "collector" }, { name: destination.id }])
    expect(
      await server.request("POST", "/browsers", { body: { telemetry: { export: { otlp: { destination: named } } } } }),
    ).toMatchObject(unknown);
  const stranger = await server.addProject("stranger");
  expect(
    await server.request("POST", "/browsers", { key: stranger.key, body: { telemetry: toCollector } }),
  ).toMatchObject(unknown);
  expect(
    await server.request("POST", "/browser_pools", {
      body: { size: 1, telemetry: { export: { otlp: { destination: { name: "nobody" } } } } },
    }),
  ).toMatchObject(unknown);
  expect(
    await server.request("POST", "/browsers", { body: { telemetry: { enabled: false, ...toCollector } } }),
  ).toMatchObject({
    status: 400,
    body: {
      message: expect.stringContaining(
        "body.telemetry: enabled: false cannot be combined with export.otlp.destination",
      ) as unknown,
    },
  });
  expect(
    await server.request("POST", "/browsers", {
      body: { telemetry: { export: { otlp: { enabled: false, destination: { name: "collector" } } } } },
    }),
  ).toMatchObject({ status: 400 });
});

it("can be set for a pool or a lease, and prevents the deletion of the destination", async () => {
  const { body } = await server.request("POST", "/browser_pools", {
    body: { name: "exporting", size: 1, fill_rate_per_minute: 1000, telemetry: toCollector },
  });
  expect(body).toMatchObject({
    browser_pool_config: {
      telemetry: {
        browser: { control: { enabled: true } },
        export: { otlp: { destination: destination.id, enabled: true } },
      },
    },
  });
  const remove = (name = "collector") => server.request("DELETE", `/telemetry/destinations/${name}`);
  expect(await remove()).toMatchObject({
    status: 409,
    body: { code: "conflict", message: expect.stringContaining("browser pool exporting") as unknown },
  });
  const leased = Browser.parse(
    (
      await server.request("POST", "/browser_pools/exporting/acquire", {
        body: { name: "leased", acquire_timeout_seconds: 60 },
      })
    ).body,
  );
  expect(leased.telemetry?.export).toEqual({ otlp: { destination: destination.id, enabled: true } });
  await call(leased.session_id);
  await eventuallyPasses(() => {
    expect(calls(leased.session_id)).toMatchObject([{ resource: { "shoal.session.name": "leased" } }]);
  });
  const changed = await server.request("PATCH", "/browser_pools/exporting", {
    body: { telemetry: { export: { otlp: { enabled: false } } } },
  });
  expect(changed).toMatchObject({ status: 200 });
  expect((changed.body as { browser_pool_config: Browser }).browser_pool_config.telemetry).not.toHaveProperty("export");
  expect(await remove()).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining(leased.session_id) as unknown },
  });
  await server.request("DELETE", "/browser_pools/exporting", { body: { force: true } });

  const plain = await server.request("POST", "/browser_pools", {
    body: { name: "plain", size: 1, fill_rate_per_minute: 1000 },
  });
  expect(plain.status).toBe(201);
  const one = Browser.parse(
    (
      await server.request("POST", "/browser_pools/plain/acquire", {
        body: { telemetry: toCollector, acquire_timeout_seconds: 60 },
      })
    ).body,
  );
  expect(one.telemetry?.export).toEqual({ otlp: { destination: destination.id, enabled: true } });
  await call(one.session_id);
  await eventuallyPasses(() => {
    expect(calls(one.session_id)).toHaveLength(1);
  });
  await server.request("DELETE", "/browser_pools/plain", { body: { force: true } });
  await eventuallyPasses(async () => {
    expect(
      await server.database.query
        .selectFrom("sessions")
        .select("id")
        .where("ended_at", "is", null)
        .where("telemetry_destination_id", "=", destination.id)
        .execute(),
    ).toEqual([]);
  });
  const other = await server.request("POST", "/telemetry/destinations", {
    body: { name: "unused", endpoint: collector.url },
  });
  expect(other.status).toBe(201);
  expect(await remove("unused")).toMatchObject({ status: 204 });
});

it("counts rejected events, continues, and logs no secrets", async () => {
  // Wait for exports of other sessions to end: their requests would get the answers below.
  await eventuallyPasses(async () => {
    expect(await metric("shoal_telemetry_exports")).toBe(0);
  });
  const before = {
    rejected: await metric('shoal_telemetry_export_events_total{outcome="rejected"}'),
    dropped: await metric('shoal_telemetry_export_events_total{outcome="dropped"}'),
    sent: await metric('shoal_telemetry_export_events_total{outcome="sent"}'),
  };
  const { session_id: id } = await create(toCollector);
  // partial_success { rejected_log_records: 1, error_message: "no" }
  collector.respond = (_request, response) => {
    response
      .writeHead(200, { "content-type": "application/x-protobuf" })
      .write(Buffer.from([0x0a, 6, 0x08, 1, 0x12, 2, 0x6e, 0x6f]));
    return true;
  };
  await call(id);
  await eventuallyPasses(async () => {
    expect(await metric('shoal_telemetry_export_events_total{outcome="rejected"}')).toBe(before.rejected + 1);
  });
  collector.respond = (request, response) => {
    response.writeHead(401).end(`no entry with ${request.headers.authorization ?? ""}`);
    return false;
  };
  await call(id);
  await eventuallyPasses(async () => {
    expect(await metric('shoal_telemetry_export_events_total{outcome="dropped"}')).toBe(before.dropped + 1);
  });
  collector.respond = () => true;
  await call(id);
  await eventuallyPasses(() => {
    expect(seqs(calls(id))).toEqual([1, 3]);
  });
  expect(await metric('shoal_telemetry_export_events_total{outcome="sent"}')).toBeGreaterThan(before.sent);
  await end(id);
  expect(server.log()).toContain("telemetry could not be sent to its destination");
  expect(server.log()).not.toContain(secret);
  await eventuallyPasses(async () => {
    expect(await metric("shoal_telemetry_exports")).toBe(0);
  });
});

it("does not delay the end of a session or the shutdown when the collector does not answer", async () => {
  collector.respond = () => false;
  const stopping = await startTestServer({ allow_private_hosts: ["127.0.0.1"] });
  let isClosed = false;
  try {
    await stopping.request("POST", "/telemetry/destinations", { body: { name: "silent", endpoint: collector.url } });
    const made = async () =>
      Browser.parse(
        (
          await stopping.request("POST", "/browsers", {
            body: { telemetry: { export: { otlp: { destination: { name: "silent" } } } } },
          })
        ).body,
      ).session_id;
    const [first, second] = [await made(), await made()];
    const before = collector.requests.length;
    for (const id of [first, second]) await stopping.request("POST", `/browsers/${id}/observe`, { body: {} });
    await eventuallyPasses(() => {
      expect(collector.requests.length).toBeGreaterThan(before);
    });
    expect((await stopping.request("DELETE", `/browsers/${first}`)).status).toBe(204);
    expect((await stopping.request("GET", `/browsers/${second}`)).status).toBe(200);
    isClosed = true;
    await stopping.close();
    expect(stopping.log()).toContain("the session ended before the destination took them");
    expect(stopping.log()).toContain("the service has stopped");
  } finally {
    if (!isClosed) await stopping.close();
  }
});
