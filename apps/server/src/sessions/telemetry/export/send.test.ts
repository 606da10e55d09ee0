import { createOutboundRule } from "@shoal/placement";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startCollector, type TestCollector } from "../../../testing/otlp-collector.ts";
import { retryAfterOf } from "../../../host/guarded-request.ts";
import { createSender } from "./send.ts";
import { retryDelayMs } from "./session-export.ts";

let collector: TestCollector;
beforeAll(async () => {
  collector = await startCollector();
});
afterAll(() => {
  collector.down();
});

/** Resolves every name to this host. */
const resolveName = () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]);
const options = { contentType: "application/x-protobuf", signal: new AbortController().signal };
const to = () => ({
  id: "d",
  endpoint: `http://collector.example:${String(collector.port)}/base/`,
  headers: { "X-Key": "k\u00e9y" },
});

it("connects to the checked address without a second DNS lookup", async () => {
  // A name that nothing else uses.
  const sender = createSender(createOutboundRule({ allowPrivateHosts: ["collector.example"], resolveName }));
  expect(await sender.send(to(), new Uint8Array(), options)).toMatchObject({ outcome: "taken" });
  expect(collector.requests.at(-1)).toMatchObject({
    url: "POST /base/v1/logs",
    headers: {
      host: `collector.example:${String(collector.port)}`,
      "x-key": "k\u00e9y",
      "content-type": "application/x-protobuf",
    },
  });
  sender.close();
});

it("rejects names that resolve to private addresses", async () => {
  const sender = createSender(createOutboundRule({ allowPrivateHosts: [], resolveName }));
  const before = collector.requests.length;
  expect(await sender.send(to(), new Uint8Array(), options)).toEqual({
    outcome: "later",
    why: "its address is not allowed: 127.0.0.1 is the loopback network",
  });
  expect(collector.requests).toHaveLength(before);
  sender.close();
});

it("follows no redirect, and separates retryable from permanent errors", async () => {
  const sender = createSender(createOutboundRule({ allowPrivateHosts: ["127.0.0.1"], resolveName }));
  const answers: [number, Record<string, string>, object][] = [
    [307, { location: `${collector.url}/elsewhere` }, { outcome: "refused", why: "it answered 307" }],
    [400, {}, { outcome: "refused", why: "it answered 400" }],
    [401, {}, { outcome: "refused", why: "it answered 401" }],
    [500, {}, { outcome: "refused", why: "it answered 500" }],
    [429, { "retry-after": "7" }, { outcome: "later", why: "it answered 429", retryAfterMs: 7000 }],
    [502, {}, { outcome: "later", why: "it answered 502" }],
    [503, { "retry-after": "nonsense" }, { outcome: "later", why: "it answered 503" }],
    [504, {}, { outcome: "later", why: "it answered 504" }],
  ];
  for (const [status, headers, result] of answers) {
    collector.respond = (_request, response) => {
      response.writeHead(status, headers).end("an answer that may be long".repeat(1000));
      return false;
    };
    const before = collector.requests.length;
    expect(await sender.send(to(), new Uint8Array(), options)).toEqual(result);
    expect(collector.requests).toHaveLength(before + 1);
  }
  collector.down();
  expect(await sender.send(to(), new Uint8Array(), options)).toMatchObject({
    outcome: "later",
    why: expect.stringMatching(/^ECONN/) as unknown,
  });
  expect(await sender.send({ ...to(), headers: undefined }, new Uint8Array(), options)).toMatchObject({
    outcome: "refused",
  });
  sender.close();
});

it("honours Retry-After up to ten minutes, otherwise backs off exponentially", () => {
  const now = Date.parse("2026-01-31T12:00:00Z");
  expect(
    ["0", "12", "100000", "Sat, 31 Jan 2026 12:00:30 GMT", "Sat, 31 Jan 2026 11:00:00 GMT", "soon", undefined].map(
      (header) => retryAfterOf(header, 600_000, now),
    ),
  ).toEqual([0, 12_000, 600_000, 30_000, 0, undefined, undefined]);
  expect([1, 2, 3, 7, 50].map((failures) => [retryDelayMs(failures, 0), retryDelayMs(failures, 1)])).toEqual([
    [500, 1000],
    [1000, 2000],
    [2000, 4000],
    [30_000, 60_000],
    [30_000, 60_000],
  ]);
});
