import type { Browser } from "@shoal/schemas";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../testing/test-server.ts";
import { openTracing } from "./tracing.ts";

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}
interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly Attribute[];
}
interface Batch {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

let collector: Server;
let endpoint: string;
const batches: Batch[] = [];
beforeAll(async () => {
  collector = createServer((request, response) => {
    void json(request).then((batch) => {
      if (request.url === "/v1/traces") batches.push(batch as Batch);
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  collector.listen(0, "127.0.0.1");
  await once(collector, "listening");
  endpoint = `http://127.0.0.1:${String((collector.address() as AddressInfo).port)}`;
});
afterAll(async () => {
  collector.close();
  collector.closeAllConnections();
  await once(collector, "close");
});

const spans = () =>
  batches.flatMap((batch) =>
    batch.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
  );
const valueOf = (attributes: readonly Attribute[], key: string) =>
  attributes.find((attribute) => attribute.key === key)?.value;

it("sends spans of requests, named by operation and linked to the client's span, and of the steps of a creation", async () => {
  const server: TestServer = await startTestServer({ otlp_endpoint: endpoint });
  try {
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
    const created = await server.request("POST", "/browsers", { body: { name: "traced" }, headers });
    expect(created.status).toBe(200);
    await server.request("GET", "/browsers/traced?include_deleted=false");
    await server.request("DELETE", "/browsers/traced");
    await expect
      .poll(() => spans().map(({ name }) => name))
      .toEqual(
        expect.arrayContaining([
          "browsers.create",
          "browsers.get",
          "browsers.delete",
          "session.start_instance",
          "session.store",
        ]),
      );
    const create = spans().find(({ name }) => name === "browsers.create");
    expect(create).toMatchObject({ traceId, parentSpanId: "00f067aa0ba902b7" });
    expect(valueOf(create?.attributes ?? [], "http.response.status_code")?.intValue).toBe(200);
    expect(valueOf(create?.attributes ?? [], "shoal.request_id")?.stringValue).toBe(
      created.headers.get("x-request-id"),
    );
    for (const name of ["session.start_instance", "session.store"])
      expect(spans().find((span) => span.name === name)).toMatchObject({ traceId, parentSpanId: create?.spanId });
    // Another request has another trace.
    expect(spans().find(({ name }) => name === "browsers.get")?.traceId).not.toBe(traceId);
    const resource = batches[0]?.resourceSpans[0]?.resource.attributes ?? [];
    expect(valueOf(resource, "service.name")?.stringValue).toBe("shoal");
    expect(JSON.stringify(batches)).not.toContain(server.key);
  } finally {
    await server.close();
  }
});

it("sends no token of a live view, a recording or a session", async () => {
  const server = await startTestServer({ otlp_endpoint: endpoint });
  const created = await server.request("POST", "/browsers", { body: {} });
  const { cdp_ws_url: address, session_id: id } = created.body as Browser;
  const token = new URL(address).searchParams.get("jwt") ?? "";
  expect(token).toMatch(/^eyJ/);
  const known = [`/session/${token}/url`, `/wd/hub/session/${token}/title`, `/steel/connect/${token}`];
  for (const path of known) await (await fetch(server.baseUrl + path)).body?.cancel();
  await server.request("DELETE", `/browsers/${id}`);
  const paths = [
    "/browser/live/secret-token",
    "/browser/live/secret-token/state",
    "/browser/replay/secret-token",
    "/browser/replay/secret-token/film",
  ];
  const before = spans().length;
  for (const path of paths) expect((await fetch(server.baseUrl + path)).status).toBe(401);
  await server.close();
  expect(spans().length).toBeGreaterThanOrEqual(before + paths.length);
  const ofSession = spans().map(({ attributes }) => valueOf(attributes, "url.path")?.stringValue);
  expect(ofSession).toEqual(
    expect.arrayContaining(["/session/***/url", "/wd/hub/session/***/title", "/steel/connect/***"]),
  );
  expect(JSON.stringify(batches)).not.toContain("secret-token");
  expect(JSON.stringify(batches)).not.toContain(token);
});

it("propagates the trace to instances and servers, and not to websites", async () => {
  const tracing = openTracing(endpoint, "server");
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const { traceparent } = request.headers;
    seen.push(Array.isArray(traceparent) ? traceparent[0] : traceparent);
    response.on("close", () => {
      tracing.requestEnded(request, response);
    });
    response.end();
  });
  tracing.follow(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const base = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const mine = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01";
  await fetch(`${base}/browsers/x/fs/read_file`, { headers: { traceparent: mine } });
  await fetch(`${base}/browsers/x/curl/raw?url=x`, { headers: { traceparent: mine } });
  await fetch(`${base}/browsers/x/curl/raw?url=x`);
  expect(seen[0]).toMatch(/^00-a{32}-(?!b{16})[\da-f]{16}-01$/);
  expect(seen.slice(1)).toEqual([mine, undefined]);
  server.close();
  server.closeAllConnections();
  await tracing.close();
});

it("does not delay requests when the collector is unavailable", async () => {
  const server = await startTestServer({ otlp_endpoint: "http://127.0.0.1:9" });
  expect((await server.request("GET", "/profiles")).status).toBe(200);
  await server.close();
});
