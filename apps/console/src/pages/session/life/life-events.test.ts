import type { Browser, TelemetryEnvelope } from "@shoal/schemas";
import { expect, it } from "vitest";
import { endTitle, lifeEvents } from "./life-events.ts";

const browser = {
  session_id: "s",
  created_at: "2026-01-31T12:00:00Z",
  deleted_at: "2026-01-31T12:05:00Z",
  ended_reason: "browser_crashed",
  browser_restarts: 1,
  timeout_seconds: 60,
  lifecycle: { start: "warm", first_used_at: "2026-01-31T12:00:10Z", sleeps: 2, ended_detail: "signal SIGSEGV" },
} as unknown as Browser;
const event = (type: string, second: number, data: object) =>
  ({
    seq: second,
    event: { type, ts: Date.parse(browser.created_at) * 1000 + second * 1_000_000, data },
  }) as unknown as TelemetryEnvelope;

it("tells the life of a session in the order of time, and why it ended", () => {
  const events = lifeEvents({
    browser,
    replays: [{ replay_id: "r", started_at: "2026-01-31T12:01:00Z", finished_at: "2026-01-31T12:03:00Z" }],
    telemetry: [
      event("cdp_connect", 70, {}),
      event("console_log", 80, { text: "not a moment of its life" }),
      event("live_view_connect", 90, { label: "Ada" }),
    ],
    audit: [
      {
        event_id: "a",
        operation: "browsers.update",
        status: 200,
        timestamp: "2026-01-31T12:02:00Z",
        email: "ada@shop.example",
      },
      { event_id: "b", operation: "browsers.screenshot", status: 200, timestamp: "2026-01-31T12:02:01Z" },
    ] as never,
  });
  expect(events.map(({ title }) => title)).toEqual([
    "Started",
    "Used for the first time",
    "Slept 2 times",
    "Its browser crashed, and started again",
    "Recording started",
    "A CDP client connected",
    "A viewer opened the live view (Ada)",
    "Its settings were changed",
    "Recording stopped",
    "Ended: its browser crashed twice",
  ]);
  expect(events.at(-1)).toMatchObject({ isBad: true, output: "signal SIGSEGV" });
});

it("shows each sleep with telemetry, instead of their number", () => {
  const events = lifeEvents({
    browser,
    replays: [],
    telemetry: [event("session_sleep", 20, { idle_ms: 10_000 }), event("session_wake", 80, { asleep_ms: 60_000 })],
    audit: [],
  });
  expect(events.map(({ title }) => title)).toEqual([
    "Started",
    "Used for the first time",
    "Its browser crashed, and started again",
    "Fell asleep",
    "Woke after 1m of sleep",
    "Ended: its browser crashed twice",
  ]);
});

it("puts causes before effects of the same millisecond", () => {
  const at = (type: string, microseconds: number, data: object = {}) =>
    ({
      seq: microseconds,
      event: { type, ts: 1_769_860_810_000_000 + microseconds, data },
    }) as unknown as TelemetryEnvelope;
  const titles = (telemetry: readonly TelemetryEnvelope[], finished_at: string | null = null) =>
    lifeEvents({
      browser: { ...browser, lifecycle: { ...browser.lifecycle, sleeps: 0 } },
      replays: [
        { replay_id: "r", started_at: browser.created_at, finished_at, failure_reason: "The browser crashed." },
      ],
      telemetry,
      audit: [],
    }).map(({ title }) => title);
  // The time of the crash is unknown. Only a client can have used the browser before.
  expect(titles([at("cdp_connect", 120)])).toEqual([
    "Started",
    "Recording started",
    "Used for the first time",
    "A CDP client connected",
    "Its browser crashed, and started again",
    "Ended: its browser crashed twice",
  ]);
  const crash = [
    at("cdp_disconnect", 300),
    at("service_crashed", 400, { service_name: "chromium" }),
    at("system_oom_kill", 500, { process_name: "chromium" }),
  ];
  expect(titles(crash, "2026-01-31T12:00:10Z")).toEqual([
    "Started",
    "Recording started",
    "Used for the first time",
    "Out of memory: chromium was killed",
    "chromium crashed",
    "Recording stopped",
    "A CDP client disconnected",
    "Ended: its browser crashed twice",
  ]);
});

it("names the caller that ended a session, and tells a lost server from a lost process", () => {
  const ended = (ended_reason: string, lifecycle: object = {}) =>
    endTitle({ ended_reason, lifecycle, timeout_seconds: 90 } as Browser);
  expect([
    ended("deleted", { ended_by: { type: "api_key", id: "k", name: "ci" } }),
    ended("deleted", { ended_by: { type: "user", id: "u", name: "ada@shop.example" } }),
    ended("timeout"),
    ended("instance_lost"),
    ended("instance_lost", { ended_detail: "exit code 1" }),
    ended("server_stopped"),
  ]).toEqual([
    "Ended by a request with the API key ci",
    "Ended by ada@shop.example",
    "Ended: it was unused for its timeout of 1m 30s",
    "Ended: its server was lost, or stopped without ending it",
    "Ended: its process was lost",
    "Ended: its server was stopped or drained",
  ]);
});
