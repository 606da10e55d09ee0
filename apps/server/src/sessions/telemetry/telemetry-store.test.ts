import type { Instance } from "@shoal/placement";
import { serializedBytes } from "@shoal/router";
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
