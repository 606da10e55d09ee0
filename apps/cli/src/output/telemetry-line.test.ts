import { expect, it } from "vitest";
import { silentTerminal } from "../testing/silent-terminal.ts";
import { telemetryLine } from "./telemetry-line.ts";

const at = "2026-01-01T00:00:00.000Z";
const line = (category: string, type: string, data?: object, more: object = {}) =>
  telemetryLine(silentTerminal(), { ts: 1_767_225_600_000_000, type, category, data, ...more });

it.each([
  [
    line("console", "console_log", { level: "warning", text: "a", args: ["a", "b"], frame_id: "F1" }),
    `${at}  WARN   console      a b\n`,
  ],
  [
    line("console", "console_error", {
      text: "Uncaught Error: no cart",
      source_url: "https://shop.example/js/checkout.js?v=2",
      line: 11,
      column: 4,
    }),
    `${at}  ERROR  console      Uncaught Error: no cart checkout.js:12\n`,
  ],
  [
    line("console", "console_log", {
      level: "log",
      text: "x",
      stack_trace: { callFrames: [{ url: "https://shop.example/", lineNumber: 2 }] },
    }),
    `${at}  INFO   console      x shop.example:3\n`,
  ],
  [
    line("network", "network_response", {
      method: "GET",
      status: 404,
      url: "https://a.example/x",
      mime_type: "text/html",
    }),
    `${at}  ERROR  network      404 GET https://a.example/x text/html\n`,
  ],
  [
    line("network", "network_loading_failed", { error_text: "net::ERR_FAILED", url: "https://a.example/x" }),
    `${at}  ERROR  network      net::ERR_FAILED https://a.example/x\n`,
  ],
  [
    line("network", "network_loading_failed", {
      error_text: "net::ERR_ABORTED",
      canceled: true,
      url: "https://a.example/",
    }),
    `${at}  INFO   network      canceled https://a.example/\n`,
  ],
  [
    line("page", "page_navigation", { url: "https://a.example/" }),
    `${at}  INFO   page         opened https://a.example/\n`,
  ],
  [
    line("page", "page_load", { target_id: "T", nav_seq: 1, url: "https://a.example/" }),
    `${at}  INFO   page         page load url=https://a.example/\n`,
  ],
  [
    line("control", "api_call", { operation_id: "browsers.act", status: 409, duration_ms: 12.4, request_id: "r" }),
    `${at}  ERROR  control      409 browsers.act 12 ms\n`,
  ],
  [
    line("system", "of_a_newer_service", { name: "\u001b[2J", list: [1] }, { truncated: true }),
    `${at}  INFO   system       of a newer service name=\\x1b[2J (cut)\n`,
  ],
  [line("system", "empty"), `${at}  INFO   system       empty\n`],
  [
    line("network", "network_loading_failed", { request_id: "1", resource_type: "Script" }),
    `${at}  ERROR  network      network loading failed resource_type=Script\n`,
  ],
  [line("network", "network_response"), `${at}  INFO   network      network response\n`],
])("prints %j", (printed, expected) => {
  expect(printed).toBe(expected);
});

it("shows the time of day in a terminal", () => {
  const event = { ts: 1_767_225_600_120_000, type: "page_load", category: "page" };
  expect(telemetryLine({ ...silentTerminal(), screen: true }, event)).toMatch(/^\d\d:\d\d:\d\d\.120 {2}INFO/);
});

it.each([
  { type: "constructor", category: "page", ts: 1, data: { name: "a" } },
  { type: "__proto__", category: "page", ts: 1e300, data: [] },
  { type: "console_error", category: {}, ts: "soon", data: { text: 1, stack_trace: { callFrames: {} } } },
  { type: "console_log", ts: -1e300, data: { args: [null], stack_trace: { callFrames: [null] } } },
])("prints a line of the invalid event %j", (event) => {
  for (const screen of [false, true])
    expect(telemetryLine({ ...silentTerminal(), screen }, event)).toMatch(/^.*(?:INFO|ERROR).*\n$/);
});

it("is not of other events", () => {
  expect(telemetryLine(silentTerminal(), {})).toBeUndefined();
});
