import { createTransport } from "@shoal/transport";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { plainRequest } from "./call.ts";
import { endpointOf } from "./endpoint.ts";
import { requestLimitMs } from "./request-limit.ts";
import { builtTable, sampleCall } from "../testing/arguments.ts";
import { shoal } from "../testing/shoal.ts";

it("sends the same request as the transport for every operation", async () => {
  const to = { baseUrl: "http://shoal.test", apiKey: "sk_test_0123456789", project: "research" };
  const table = builtTable().filter(
    ({ body, result }) => body !== "bytes" && body !== "multipart" && result !== "bytes" && result !== "events",
  );
  for (const spec of table) {
    const { params, query, body } = sampleCall(spec, "f", ({ hidden, kind }) => hidden !== true && kind !== "file");
    const request = { params, query, body: spec.body === "json" ? body : undefined };
    const plain = plainRequest(spec, request, to);
    let sent: Request | undefined;
    const transport = createTransport({
      ...to,
      validate: "off",
      maxRetries: 0,
      fetch: (asked) => {
        sent = asked;
        return Promise.resolve(new Response(null, { status: 500 }));
      },
    });
    const idempotencyKey = plain.headers["idempotency-key"];
    await transport
      .call(endpointOf(spec), request, idempotencyKey === undefined ? {} : { idempotencyKey })
      .catch(() => undefined);
    expect({ method: sent?.method, url: sent?.url, body: await sent?.text() }, spec.operationId).toEqual({
      method: plain.method,
      url: plain.url,
      body: plain.body ?? "",
    });
    expect(Object.fromEntries(sent?.headers ?? []), spec.operationId).toMatchObject(plain.headers);
  }
  expect(table.length).toBeGreaterThan(100);
});

it("reports fields that the service ignored", async () => {
  await using server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json", "x-shoal-ignored-fields": "body.colour" }).end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const env = {
    SHOAL_BASE_URL: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    SHOAL_API_KEY: "sk_test_0123456789",
  };
  const { status, stderr } = await shoal(["profiles", "get", "p", "-o", "json"], { env });
  expect([status, stderr]).toEqual([0, "The service ignored unknown fields: body.colour\n"]);
  expect((await shoal(["profiles", "get", "p", "-o", "json", "--quiet"], { env })).stderr).toBe("");
});

afterEach(() => {
  vi.useRealTimers();
});

it.each([
  ["browsers.process.exec", { body: { timeout_sec: 900 } }, 910],
  ["browsers.process.exec", { body: {} }, Infinity],
  ["browsers.fork", { body: { count: 12 } }, 120],
  ["browsers.create", { body: { snapshot: { id: "s" } } }, 240],
  ["browsers.create", { body: { timeout_seconds: 86_400 } }, 60],
  ["browsers.playwright.execute", { body: { timeout_sec: 5 } }, 60],
  ["browsers.act", { body: { timeout_ms: 50_000 } }, 110],
  ["vaults.items.get", { query: { wait: 60 } }, 120],
  ["browserPools.acquire", { body: { acquire_timeout_seconds: 600 } }, 660],
  ["profiles.list", {}, 60],
] as const)("has a limit of %s that fits %j", (operationId, request, seconds) => {
  expect(builtTable().map((spec) => spec.operationId)).toContain(operationId);
  expect(requestLimitMs(operationId, { query: {}, body: undefined, ...request })).toBe(seconds * 1000);
});

it("does not cut a command off before its timeout", async () => {
  // Only the timers of the command: the sockets are real.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let requests = 0;
  await using server = createServer((_request, response) => {
    requests += 1;
    vi.advanceTimersByTime(900_000);
    setImmediate(() => {
      response
        .writeHead(200, { "content-type": "application/json" })
        .end('{"stdout_b64":"bWFkZQo=","stderr_b64":"","exit_code":0,"duration_ms":1}');
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const env = {
    SHOAL_BASE_URL: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    SHOAL_API_KEY: "sk_test_0123456789",
  };
  const exec = ["browsers", "process", "exec", "b", "--timeout-sec", "900", "--", "make"];
  expect(await shoal(exec, { env })).toMatchObject({ status: 0, stdout: "made\n" });
  expect(requests).toBe(1);
});
