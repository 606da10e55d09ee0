import type { TelemetryEnvelope } from "@shoal/schemas";
import { expect, it } from "vitest";
import { replayLines } from "./replay-lines.ts";

let seq = 0;
const event = (type: string, category: string, ms: number, data: object): TelemetryEnvelope => ({
  seq: ++seq,
  event: { ts: ms * 1000, type, category, source: { kind: "cdp" }, data } as TelemetryEnvelope["event"],
});

it("places chapters, console lines, requests and actions on the clock of the film", () => {
  const lines = replayLines(
    [
      event("console_log", "console", 9_000, { text: "before the film" }),
      event("api_call", "control", 10_500, { operation_id: "browsers.telemetry.stream", status: 200 }),
      event("page_navigation", "page", 10_000, { url: "http://x/" }),
      event("page_navigation", "page", 10_100, { url: "http://ad/", parent_frame_id: "f" }),
      event("network_request", "network", 11_000, { request_id: "a", method: "POST", url: "http://x/pay" }),
      event("network_response", "network", 11_500, { request_id: "a", status: 502 }),
      event("console_error", "console", 12_000, { text: "payment", args: ["payment", "failed"] }),
      event("handoff", "connection", 13_000, { handoff_id: "h", status: "taken", label: "Ada" }),
      event("api_call", "control", 14_000, {
        operation_id: "browsers.playwright.execute",
        status: 200,
        duration_ms: 12.4,
      }),
      event("page_lcp", "page", 15_000, {}),
    ],
    { replay_id: "r", clock: { started_ts: 10_000_000 }, marks: [{ title: "Pay", offset_seconds: 1.5 }] },
  );
  expect(lines.map(({ kind, atSeconds, text, note, isError }) => [kind, atSeconds, text, note, isError])).toEqual([
    ["action", 0, "Opened http://x/", undefined, undefined],
    ["network", 1, "POST x/pay", "502 500ms", true],
    ["chapter", 1.5, "Pay", undefined, undefined],
    ["console", 2, "payment failed", undefined, true],
    ["action", 3, "A person took control (Ada)", undefined, undefined],
    ["action", 4, "browsers.playwright.execute", "12ms", false],
  ]);
});
