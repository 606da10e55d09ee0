import * as z from "zod/mini";
import { describe, expect, it } from "vitest";
import {
  BrowserProxyConfig,
  ClickMouse,
  ComputerAction,
  ComputerBatch,
  CreateBrowser,
  Curl,
  DragMouse,
  ExecProcess,
  ExecutePlaywright,
  ListTelemetryEvents,
  LoadExtensions,
  MoveMouse,
  ResizeTerminal,
  ScreenshotRegion,
  StartReplay,
  StreamBrowserLogs,
  TelemetryEnvelope,
  TelemetryEvent,
  TelemetryExportRequest,
  UpdateBrowser,
  WriteStdin,
} from "./index.ts";

const accepts = (schema: z.core.$ZodType, value: unknown) => z.safeParse(schema, value).success;
const many = (count: number, item: unknown) => Array.from({ length: count }, () => item);
const sleep = { type: "sleep", sleep: { duration_ms: 0 } };

describe("limits", () => {
  it.each<[string, z.core.$ZodType, unknown[], unknown[]]>([
    [
      "ClickMouse",
      ClickMouse,
      [
        { x: -1, y: 0 },
        { x: 1, y: 1, num_clicks: 0 },
        { x: 1, y: 1, num_clicks: 100, hold_keys: many(16, "Shift") },
      ],
      [
        { x: 1 },
        { x: 1.5, y: 0 },
        { x: 1, y: 1, num_clicks: -1 },
        { x: 1, y: 1, num_clicks: 101 },
        { x: 1, y: 1, hold_keys: many(17, "a") },
        { x: 1, y: 1, button: "top" },
      ],
    ],
    [
      "MoveMouse",
      MoveMouse,
      [50, 5000].map((duration_ms) => ({ x: 1, y: 1, duration_ms })),
      [49, 5001].map((duration_ms) => ({ x: 1, y: 1, duration_ms })),
    ],
    [
      "DragMouse",
      DragMouse,
      [{ path: many(2, [0, 0]) }, { path: many(1000, [0, 0]), duration_ms: 10_000 }],
      [
        { path: many(1, [0, 0]) },
        { path: many(1001, [0, 0]) },
        { path: many(2, [0]) },
        { path: many(2, [0, 0, 0]) },
        { path: many(2, [0, 0]), duration_ms: 10_001 },
        { path: many(2, [0, 0]), steps_per_segment: 0 },
      ],
    ],
    [
      "ComputerBatch",
      ComputerBatch,
      [{ actions: [sleep] }, { actions: many(100, sleep) }],
      [{ actions: [] }, { actions: many(101, sleep) }],
    ],
    [
      "ScreenshotRegion",
      ScreenshotRegion,
      [{ x: 0, y: 0, width: 1, height: 1 }],
      [
        { x: -1, y: 0, width: 1, height: 1 },
        { x: 0, y: 0, width: 0, height: 1 },
      ],
    ],
    [
      "ExecutePlaywright",
      ExecutePlaywright,
      [{ code: "1" }, { code: "1", timeout_sec: 1 }, { code: "1", timeout_sec: 300 }, { code: "a".repeat(300_000) }],
      [{ code: "" }, { code: "1", timeout_sec: 0 }, { code: "1", timeout_sec: 301 }, { code: "a".repeat(300_001) }],
    ],
    [
      "ExecProcess",
      ExecProcess,
      [
        { command: "a", cwd: null, as_user: null, timeout_sec: null, env: { A: "" } },
        { command: "a", args: many(4096, "") },
        { command: "a", timeout_sec: 259_200 },
        { command: "a", timeout_sec: 0 },
      ],
      [
        { command: "" },
        { command: "a\0" },
        { command: "a", cwd: "tmp" },
        { command: "a", args: many(4097, "") },
        { command: "a", env: { "": "" } },
        { command: "a", env: { "A=B": "" } },
        { command: "a", timeout_sec: -1 },
        { command: "a", timeout_sec: 259_201 },
      ],
    ],
    [
      "WriteStdin",
      WriteStdin,
      ["", "YQ==", "YQ", "YWI=", "YWJj", "A".repeat(699_052)].map((data_b64) => ({ data_b64 })),
      ["Y", "YQ=", "a b=", "ä===", "A".repeat(699_056)].map((data_b64) => ({ data_b64 })),
    ],
    [
      "ResizeTerminal",
      ResizeTerminal,
      [{ rows: 1, cols: 65_535 }],
      [{ rows: 0, cols: 1 }, { rows: 1, cols: 65_536 }, { rows: 1 }],
    ],
    [
      "StartReplay",
      StartReplay,
      [{}, { framerate: 1 }, { framerate: 60, max_duration_in_seconds: 1 }],
      [{ framerate: 0 }, { framerate: 61 }, { max_duration_in_seconds: 0 }],
    ],
    [
      "Curl",
      Curl,
      [{ url: "HTTPS://a" }, { url: "http://a", timeout_ms: 1000 }, { url: "http://a", timeout_ms: 60_000 }],
      [
        { url: "ftp://a" },
        { url: "a" },
        { url: "http://a", timeout_ms: 999 },
        { url: "http://a", timeout_ms: 60_001 },
        { url: "http://a", method: "TRACE" },
      ],
    ],
    [
      "LoadExtensions",
      LoadExtensions,
      [{ extensions: many(20, { name: "a", zip_file: new File([""], "a") }) }],
      [
        { extensions: many(21, { name: "a", zip_file: new File([""], "a") }) },
        { extensions: [{ name: "a b", zip_file: new File([""], "a") }] },
      ],
    ],
    [
      "ListTelemetryEvents",
      ListTelemetryEvents,
      [
        {},
        {
          order: "desc",
          since: "5m",
          until: "2026-01-31T12:00:00Z",
          limit: 100,
          category: ["network", "monitor"],
          offset: 0,
        },
      ],
      [
        { order: "up" },
        { since: "yesterday" },
        { limit: 101 },
        { limit: 0 },
        { category: ["weather"] },
        { offset: -1 },
      ],
    ],
  ])("of %s", (_, schema, good, bad) => {
    expect(good.filter((value) => !accepts(schema, value))).toEqual([]);
    expect(bad.filter((value) => accepts(schema, value))).toEqual([]);
  });
});

describe("rules between fields", () => {
  it.each<[string, z.core.$ZodType, unknown[], unknown[]]>([
    [
      "an action has only the field of its type",
      ComputerAction,
      [sleep, { type: "set_cursor", set_cursor: { hidden: true } }],
      [
        { type: "sleep" },
        { type: "sleep", set_cursor: { hidden: true } },
        { ...sleep, set_cursor: { hidden: true } },
        { type: "dance", dance: {} },
      ],
    ],
    [
      "a log source requires its field",
      StreamBrowserLogs,
      [
        { source: "path", path: "/a" },
        { source: "supervisor", supervisor_process: "chromium" },
      ],
      [{ source: "path" }, { source: "supervisor", path: "/a" }, { source: "path", path: "a" }],
    ],
    [
      "a proxy is chosen by one field",
      BrowserProxyConfig,
      [{ id: "a" }, { name: "a" }, { mode: "direct" }],
      [{}, { id: "a", name: "a" }, { mode: "fast" }],
    ],
    [
      "a new session has only one of proxy and proxy_id",
      CreateBrowser,
      [
        { proxy: { mode: "default" } },
        { proxy_id: "a" },
        { memory: "8GiB", region: "rack-7", network: { private_hosts: [] } },
      ],
      [
        { proxy: { id: "a" }, proxy_id: "a" },
        { memory: "3GiB" },
        { region: "" },
        { network: { private_hosts: many(33, "a") } },
      ],
    ],
    [
      "a changed session has only one of the proxy fields",
      UpdateBrowser,
      [{ proxy: { id: "a" } }, { proxy_id: null, disable_default_proxy: true }],
      [
        { proxy: { id: "a" }, proxy_id: null },
        { proxy: { id: "a" }, disable_default_proxy: false },
      ],
    ],
    [
      "a disabled export has no destination",
      TelemetryExportRequest,
      [{}, { otlp: { enabled: false } }, { otlp: { destination: { name: "a" } } }],
      [{ otlp: { destination: { name: "a" }, enabled: false } }, { otlp: { destination: {} } }],
    ],
  ])("%s", (_, schema, good, bad) => {
    expect(good.filter((value) => !accepts(schema, value))).toEqual([]);
    expect(bad.filter((value) => accepts(schema, value))).toEqual([]);
  });
});

describe("telemetry events", () => {
  const event = (type: string, category: string, data?: object) => ({
    ts: 1_700_000_000_000_000,
    type,
    category,
    source: { kind: "cdp" },
    ...(data && { data }),
  });
  const stack = { callFrames: [{ functionName: "", scriptId: "1", url: "https://a", lineNumber: 0, columnNumber: 1 }] };

  it("are checked by their type, but may have unknown fields and values", () => {
    expect(
      accepts(
        TelemetryEvent,
        event("console_log", "console", {
          text: "a",
          stack_trace: { ...stack, parent: stack },
          url: "https://a",
          new_field: 1,
        }),
      ),
    ).toBe(true);
    expect(
      accepts(TelemetryEvent, event("proxy_error", "network", { code: "a_new_code", request_id: "r", status: 502 })),
    ).toBe(true);
    expect(accepts(TelemetryEvent, { ...event("cdp_connect", "connection"), source: { kind: "a_new_source" } })).toBe(
      true,
    );
  });

  it("of a known type must be complete", () => {
    expect(accepts(TelemetryEvent, event("console_error", "console", {}))).toBe(false);
    expect(accepts(TelemetryEvent, event("console_log", "console", { stack_trace: { ...stack, parent: {} } }))).toBe(
      false,
    );
    expect(accepts(TelemetryEvent, { type: "page_load" })).toBe(false);
    expect(accepts(TelemetryEvent, { ...event("page_load", "page"), type: undefined })).toBe(false);
  });

  it("of an unknown type pass unchanged, inside their envelope", () => {
    const envelope = { seq: 7, event: { type: "weather_changed", wind: [1] } };
    expect(z.parse(TelemetryEnvelope, envelope)).toEqual(envelope);
    expect(accepts(TelemetryEnvelope, { event: envelope.event })).toBe(false);
  });
});
