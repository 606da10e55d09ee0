import { expect, it } from "vitest";
import { decodeLogs } from "../../../testing/otlp-collector.ts";
import { recordOf } from "./log-records.ts";
import { encodeRecords } from "./otlp-body.ts";

const line = (event: object, seq = 7) =>
  JSON.stringify({ seq, event: { ts: 1_700_000_000_123_456, category: "console", source: { kind: "cdp" }, ...event } });

it.each([
  ["console_log", { level: "warning" }, "WARN"],
  ["console_log", { level: "debug" }, "DEBUG"],
  ["console_log", { level: "info" }, "INFO"],
  ["console_error", {}, "ERROR"],
  ["network_loading_failed", {}, "WARN"],
  ["network_loading_failed", { canceled: true }, "INFO"],
  ["api_call", { status: 500 }, "ERROR"],
  ["api_call", { status: 404 }, "INFO"],
  ["service_crashed", {}, "ERROR"],
  ["system_oom_kill", {}, "ERROR"],
  ["proxy_error", {}, "WARN"],
  ["monitor_disconnected", {}, "WARN"],
  ["of_a_newer_version", {}, "INFO"],
])("%s with %j is of severity %s", (type, data, severity) => {
  expect(recordOf(line({ type, data }))).toMatchObject({ eventName: type, severityText: severity });
});

it("omits the last picture of a page", () => {
  const data = { url: "https://a.example/", size_bytes: 3, jpeg: "/9j/" };
  const record = recordOf(line({ type: "page_picture", category: "page", data }));
  expect(record?.attributes).toMatchObject({ "url.full": "https://a.example/", "shoal.data.size_bytes": 3 });
  expect(JSON.stringify(record)).not.toContain("/9j/");
});

it("contains all fields of an event with microseconds, and survives encoding", () => {
  const data = {
    text: "héard",
    url: "https://a.example/",
    method: "GET",
    status: 200,
    line: -3,
    ratio: 0.5,
    canceled: false,
    nothing: null,
    args: ["a", 1],
    stack: { frames: [{ line: 1 }] },
  };
  const record = recordOf(line({ type: "console_log", data, truncated: true }));
  if (record === undefined) throw new Error("It is an event.");
  const [decoded] = decodeLogs(Buffer.from(encodeRecords([record], { "shoal.session.id": "s" })));
  expect(decoded).toMatchObject({
    time: 1_700_000_000_123_456_000n,
    observedTime: 1_700_000_000_123_456_000n,
    eventName: "console_log",
    body: "héard",
    resource: { "service.name": "shoal", "shoal.session.id": "s" },
    attributes: {
      "shoal.seq": 7,
      "shoal.category": "console",
      "shoal.source": "cdp",
      "shoal.truncated": true,
      "url.full": "https://a.example/",
      "http.request.method": "GET",
      "http.response.status_code": 200,
      "shoal.data.line": -3,
      "shoal.data.ratio": 0.5,
      "shoal.data.canceled": false,
      "shoal.data.args": ["a", 1],
      "shoal.data.stack": { frames: [{ line: 1 }] },
    },
  });
});

it("is undefined for an invalid event", () => {
  for (const text of ["", "{", "{}", '{"seq":1}']) expect(recordOf(text)).toBeUndefined();
});
