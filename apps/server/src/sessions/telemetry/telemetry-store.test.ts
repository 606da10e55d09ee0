import type { Instance } from "@shoal/placement";
import { serializedBytes } from "@shoal/router";
import { eventually } from "@shoal/testkit";
import { mkdtempSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addAbortSignal, PassThrough, Readable } from "node:stream";
import { pino } from "pino";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { type HistoryQuestion, readHistory } from "../../storage/telemetry-files/history.ts";
import { writeEvents } from "../../storage/telemetry-files/event-files.ts";
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

it("reads the events up to a place, with any times", async () => {
  const parsing = { run: (_kind: string, question: HistoryQuestion) => readHistory(question) };
  const store = createTelemetryStore({
    ...{ directory, retentionMs: 3_600_000, parsing: parsing as never, log: pino({ level: "silent" }) },
  });
  expect(await store.end("placed")).toBeUndefined();
  const writer = writeEvents(join(directory, "placed"), 2 ** 20);
  const source = { kind: "cdp" };
  const append = (seq: number, ts: number) => {
    const event = { ts, type: "console_log", category: "console", source, data: {} };
    return writer.append(Buffer.from(`${JSON.stringify({ seq, event })}\n`));
  };
  await append(1, Date.now() * 1000 + 3_600_000_000);
  await append(2, 1);
  const end = await store.end("placed");
  await append(3, 1);
  await writer.close();
  const reader = { projectId: "project", signal: new AbortController().signal };
  const seqs = async (wanted: { readonly end?: number | undefined }): Promise<number[]> => {
    const chunks = [];
    const one = { categories: undefined, types: undefined, limit: 1, ...wanted };
    for await (const chunk of store.lines("placed", one, reader)) chunks.push(Buffer.from(chunk).toString());
    return chunks.map((line) => (JSON.parse(line) as { seq: number }).seq);
  };
  expect(await seqs({ end })).toEqual([1, 2]);
  expect(await seqs({})).toEqual([1, 2, 3]);
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

it("ends a stream that its instance leaves open", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const store = createTelemetryStore({
    ...{ directory, retentionMs: 3_600_000, parsing: {} as never, log: pino({ level: "silent" }) },
  });
  const request: Instance["request"] = ({ method, signal }) => {
    const answer = method === "GET" ? new PassThrough() : Readable.from([]);
    if (signal) addAbortSignal(signal, answer);
    return Promise.resolve(Object.assign(answer, { statusCode: 200 }) as unknown as IncomingMessage);
  };
  const collector = store.collect("open", { request } as Instance);
  void collector.finish();
  await vi.advanceTimersByTimeAsync(5_000);
  await collector.done;
});
