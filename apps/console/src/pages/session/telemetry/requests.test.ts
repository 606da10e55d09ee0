import type { TelemetryEnvelope } from "@shoal/schemas";
import { expect, it } from "vitest";
import { curlOf } from "../network/curl.ts";
import { matching, outcomeKind } from "../network/filter-requests.ts";
import { harOf } from "../network/har.ts";
import { outcomeOf, requestsOf } from "./requests.ts";
import { barsOf } from "../network/waterfall.ts";

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
    requests.map((request) => [
      request.url,
      outcomeOf(request),
      request.durationMs,
      request.body,
      outcomeKind(request),
    ]),
  ).toEqual([
    ["http://x/old", "→", 10, undefined, "redirect"],
    ["http://x/new", "200", 40, "{}", "ok"],
    ["http://x/api", "failed", 40, undefined, "failed"],
  ]);
  expect(requests[0]?.redirectedTo).toBe("http://x/new");
  expect(matching(requests, { find: "POST", type: "other", outcome: "failed" })).toHaveLength(1);
  expect(matching(requests, { find: "post", type: "fetch" })).toEqual([]);
});

it("shows status and headers of each redirect, also in the archive", () => {
  const hop = (ms: number, url: string, location: string, status: number) =>
    event("network_response", ms, { request_id: "a", url, status, is_redirect: true, headers: { Location: location } });
  const events = [
    event("network_request", 1000, { request_id: "a", method: "POST", url: "http://x/1" }),
    hop(1010, "http://x/1", "/2", 303),
    event("network_request", 1010, { request_id: "a", method: "GET", url: "http://x/2", is_redirect: true }),
    hop(1030, "http://x/2", "/3", 301),
    event("network_request", 1030, { request_id: "a", method: "GET", url: "http://x/3", is_redirect: true }),
    event("network_response", 1060, { request_id: "a", url: "http://x/3", status: 200 }),
  ];
  const requests = requestsOf(events);
  expect(
    requests.map((request) => [request.url, outcomeOf(request), request.durationMs, request.redirectedTo]),
  ).toEqual([
    ["http://x/1", "303", 10, "http://x/2"],
    ["http://x/2", "301", 20, "http://x/3"],
    ["http://x/3", "200", 30, undefined],
  ]);
  expect(requests.map(outcomeKind)).toEqual(["redirect", "redirect", "ok"]);
  expect(harOf(requests, events, "s")).toMatchObject({
    log: {
      entries: [
        {
          request: { method: "POST", url: "http://x/1" },
          response: { status: 303, headers: [{ name: "Location", value: "/2" }], redirectURL: "http://x/2" },
        },
        { response: { status: 301, redirectURL: "http://x/3" } },
        { response: { status: 200, redirectURL: "" } },
      ],
    },
  });
  // The first request was before the first event.
  expect(requestsOf(events.slice(1)).map((request) => [request.url, outcomeOf(request)])).toEqual([
    ["http://x/1", "303"],
    ["http://x/2", "301"],
    ["http://x/3", "200"],
  ]);
});

it("shows an answer whose request was before the first event", () => {
  const [request] = requestsOf([event("network_response", 5, { request_id: "z", status: 404, url: "http://x/" })]);
  expect(request).toMatchObject({ status: 404, url: "http://x/", durationMs: 0 });
});

it("places requests in the time of their document", () => {
  const requests = requestsOf([
    event("network_request", 1000, { request_id: "a", loader_id: "1", url: "http://x/" }),
    event("network_response", 1100, { request_id: "a", status: 200 }),
    event("network_request", 1100, { request_id: "b", loader_id: "1", url: "http://x/slow" }),
    event("network_request", 9000, { request_id: "c", loader_id: "2", url: "http://y/" }),
    event("network_response", 9050, { request_id: "c", status: 200 }),
  ]);
  const bars = barsOf(requests, 1200);
  expect(requests.map(({ seq }) => bars.get(seq))).toEqual([
    { start: 0, width: 0.5, afterMs: 0 },
    { start: 0.5, width: 0.5, afterMs: 100 },
    { start: 0, width: 1, afterMs: 0 },
  ]);
});

it("writes a request as a command for a shell, where quotes of a page end nothing", () => {
  const [request] = requestsOf([
    event("network_request", 1, {
      request_id: "a",
      method: "POST",
      url: "http://x/'$(id)",
      headers: { "Content-Type": "text/plain", "Content-Length": "3" },
      post_data: "a'b",
    }),
  ]);
  expect(request && curlOf(request)).toBe(
    `curl --globoff 'http://x/'\\''$(id)' \\\n  -H 'Content-Type: text/plain' \\\n  --data-raw 'a'\\''b'`,
  );
});
