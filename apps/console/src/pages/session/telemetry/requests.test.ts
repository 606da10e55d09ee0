import type { TelemetryEnvelope } from "@shoal/schemas";
import { expect, it } from "vitest";
import { requestsOf } from "./requests.ts";

let seq = 0;
const event = (type: string, ms: number, data: object): TelemetryEnvelope => ({
  seq: ++seq,
  event: { ts: ms * 1000, type, category: "network", source: { kind: "cdp" }, data } as TelemetryEnvelope["event"],
});

it("joins a request with its answer, a redirect and a failure", () => {
  const requests = requestsOf([
    event("network_request", 1000, { request_id: "a", method: "GET", url: "http://x/old" }),
    event("network_request", 1010, { request_id: "a", method: "GET", url: "http://x/new", is_redirect: true }),
    event("network_request", 1020, { request_id: "b", method: "POST", url: "http://x/api" }),
    event("network_response", 1050, { request_id: "a", status: 200, body: "{}" }),
    event("network_loading_failed", 1060, { request_id: "b", error_text: "net::ERR_FAILED" }),
    event("network_idle", 1070, {}),
  ]);
  expect(
    requests.map(({ url, status, failure, durationMs, body }) => [url, status, failure, durationMs, body]),
  ).toEqual([
    ["http://x/old", undefined, undefined, 10, undefined],
    ["http://x/new", 200, undefined, 40, "{}"],
    ["http://x/api", undefined, "net::ERR_FAILED", 40, undefined],
  ]);
});

it("shows an answer whose request was before the first event", () => {
  const [request] = requestsOf([event("network_response", 5, { request_id: "z", status: 404, url: "http://x/" })]);
  expect(request).toMatchObject({ status: 404, url: "http://x/", durationMs: 0 });
});
