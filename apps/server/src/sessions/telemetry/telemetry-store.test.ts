import type { Instance } from "@shoal/placement";
import { serializedBytes } from "@shoal/router";
import { eventually } from "@shoal/testkit";
import { mkdtempSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { pino } from "pino";
import { afterEach, expect, it } from "vitest";
import { type HistoryQuestion, readHistory } from "../../storage/telemetry-files/history.ts";
import { createTelemetryStore } from "./telemetry-store.ts";

const directory = mkdtempSync(join(tmpdir(), "shoal-telemetry-"));
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** Sends its event when no more are selected. */
function instanceWith(line: string): Instance {
  const events = new PassThrough();
  const request: Instance["request"] = ({ method }) => {
    if (method !== "GET") events.end(line);
    const answer = method === "GET" ? events : Readable.from([]);
    return Promise.resolve(Object.assign(answer, { statusCode: 200 }) as unknown as IncomingMessage);
  };
  return { request } as Instance;
}

it("lists the last events of a session that is ending", async () => {
  const parsing = { run: (_kind: string, question: HistoryQuestion) => readHistory(question) };
  const store = createTelemetryStore({
    directory,
    retentionMs: 3_600_000,
    parsing: parsing as never,
    log: pino({ level: "silent" }),
  });
  const source = { kind: "cdp" };
  const event = { ts: Date.now() * 1000, type: "console_log", category: "console", source, data: {} };
  const collector = store.collect("session", instanceWith(`${JSON.stringify({ seq: 1, event })}\n`));
  const finished = collector.finish();
  const { signal } = new AbortController();
  const { items } = await store.list("session", { limit: 10, order: "asc" }, { projectId: "project", signal });
  expect(JSON.parse(String(serializedBytes(items)))).toMatchObject([{ seq: 1 }]);
  await finished;
});

it("keeps the events of a running session that had none during the retention", async () => {
  const store = createTelemetryStore({
    directory,
    retentionMs: 3_600_000,
    parsing: {} as never,
    log: pino({ level: "silent" }),
  });
  const event = { ts: Date.now() * 1000, type: "console_log", category: "console", source: { kind: "cdp" }, data: {} };
  const events = new PassThrough();
  events.write(`${JSON.stringify({ seq: 1, event })}\n`);
  const request: Instance["request"] = ({ method }) => {
    if (method !== "GET") events.end();
    const answer = method === "GET" ? events : Readable.from([]);
    return Promise.resolve(Object.assign(answer, { statusCode: 200 }) as unknown as IncomingMessage);
  };
  const collector = store.collect("quiet", { request } as Instance);
  const file = { sessionId: "quiet", projectId: "project" };
  await eventually("the first event", () => store.hasLocal(file));
  const nextDayMs = Date.now() + 86_400_000;
  expect(await store.sweep(nextDayMs)).toBe(0);
  expect(await store.hasLocal(file)).toBe(true);
  await collector.finish();
  expect(await store.sweep(nextDayMs)).toBe(1);
});
