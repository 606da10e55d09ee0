import type { Database } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { sql } from "kysely";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { deploymentRow } from "../../testing/deployment-row.ts";
import type { LogLine } from "../runtime/app-runtime.ts";
import { type LogOwner, type LogStart, type StoredLine, AppLogs } from "./app-logs.ts";
import { followEvents, type FollowedState } from "./follow-events.ts";
import { openTestDatabase } from "../../testing/test-database.ts";

const log = pino({ level: "silent" });
const maxProjectBytes = () => 2 ** 30;
let folder: string;
let database: Database;
let logs: AppLogs;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-app-logs-"));
  ({ database } = await openTestDatabase(folder));
  logs = new AppLogs({ database, log, maxProjectBytes });
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

async function addProject(): Promise<string> {
  const id = createId();
  await database.query.insertInto("projects").values({ id, name: id }).execute();
  return id;
}

async function addDeployment(project?: string): Promise<string> {
  const projects = database.query.selectFrom("projects").select("id");
  const project_id = project ?? (await projects.executeTakeFirstOrThrow()).id;
  const id = createId();
  await database.query.insertInto("deployments").values(deploymentRow({ id, project_id })).execute();
  return id;
}

const line = (text: string, source: LogLine["source"] = "stdout", at = new Date()): LogLine => ({ source, text, at });

async function linesOf(owner: LogOwner, from: LogStart = {}, from_ = logs): Promise<StoredLine[]> {
  const reader = from_.reader(owner, from);
  const all: StoredLine[] = [];
  for (let lines = await reader.read(); lines.length > 0; lines = await reader.read()) all.push(...lines);
  return all;
}
const textsOf = async (...args: Parameters<typeof linesOf>) => (await linesOf(...args)).map(({ text }) => text);

it("stores 100,000 lines in their order, also empty ones and ones with any character", async () => {
  const deployment_id = await addDeployment();
  const invocation_id = createId();
  const writer = logs.writer({ deployment_id, invocation_id });
  const odd = ["", "\0\u0007", "\ud800 half", 'quotes " and \\', "ünï", "a\r"];
  const texts = [...odd, ...Array.from({ length: 100_000 }, (_, index) => `line ${String(index)}`)];
  for (const [index, text] of texts.entries()) writer.line(line(text, index % 2 === 0 ? "stdout" : "stderr"));
  await writer.end();
  const stored = await linesOf({ invocation_id });
  expect(stored.map(({ text }) => text)).toEqual(texts);
  expect(stored.slice(0, 3).map(({ source }) => source)).toEqual(["stdout", "stderr", "stdout"]);
  expect(stored[0]?.invocation_id).toBe(invocation_id);
});

it("says how many lines were dropped above the limit of a writer", async () => {
  const deployment_id = await addDeployment();
  const writer = new AppLogs({ database, log, maxProjectBytes, limits: { maxBytes: 2 ** 20 } }).writer({
    deployment_id,
  });
  for (let index = 0; index < 500; index += 1) writer.line(line("x".repeat(10_000), "build"));
  await writer.end();
  writer.line(line("late"));
  const texts = await textsOf({ deployment_id });
  const kept = texts.length - 1;
  expect(kept).toBe(105);
  expect(texts.at(-1)).toBe(`[shoal] ${String(500 - kept)} lines were dropped: the log is limited to 1 MiB.`);
});

it("says where lines are missing because they arrived faster than the database stored them", async () => {
  const deployment_id = await addDeployment();
  const slow = new AppLogs({ database, log, maxProjectBytes, limits: { maxWaitingBytes: 20_000 } });
  const writer = slow.writer({ deployment_id });
  for (let index = 0; index < 1000; index += 1) writer.line(line(`early ${String(index)}`));
  await expect.poll(async () => (await textsOf({ deployment_id })).length).toBeGreaterThan(100);
  writer.line(line("new"));
  await writer.end();
  const texts = await textsOf({ deployment_id });
  expect(texts.slice(-2)).toEqual([
    `[shoal] ${String(1000 - (texts.length - 2))} lines were dropped: they arrived faster than they could be stored.`,
    "new",
  ]);
});

it("reads from a moment, and after a position", async () => {
  const deployment_id = await addDeployment();
  const writer = logs.writer({ deployment_id });
  const start = Date.now() - 60_000;
  for (let index = 0; index < 60; index += 1) writer.line(line(String(index), "build", new Date(start + index * 1000)));
  await writer.end();
  expect(await textsOf({ deployment_id }, { since: new Date(start + 57_500) })).toEqual(["58", "59"]);
  const all = await linesOf({ deployment_id });
  expect(await textsOf({ deployment_id }, { after: all[56]?.position })).toEqual(["57", "58", "59"]);
  expect(await textsOf({ deployment_id }, { after: all.at(-1)?.position })).toEqual([]);
});

it("skips no line of concurrent writers of one deployment", async () => {
  const deployment_id = await addDeployment();
  const writers = Array.from({ length: 8 }, () => logs.writer({ deployment_id, invocation_id: createId() }));
  const reader = logs.reader({ deployment_id }, {});
  const seen: StoredLine[] = [];
  const written = new AbortController();
  const reading = (async () => {
    for (;;) {
      const wasWritten = written.signal.aborted;
      const lines = await reader.read();
      seen.push(...lines);
      if (wasWritten && lines.length === 0) return;
    }
  })();
  await Promise.all(
    writers.map(async (writer, number) => {
      for (let index = 0; index < 40; index += 1) {
        writer.line(line(`${String(number)}: ${"x".repeat(3000)}`));
        const betweenLinesMs = 1;
        await new Promise((resolve) => setTimeout(resolve, betweenLinesMs));
      }
      await writer.end();
    }),
  );
  written.abort();
  await reading;
  expect(seen).toHaveLength(320);
  expect(await textsOf({ deployment_id })).toEqual(seen.map(({ text }) => text));
});

it("deletes the oldest lines of a project above its limit, and none of other projects", async () => {
  const strangers = await addDeployment(await addProject());
  const stranger = logs.writer({ deployment_id: strangers });
  stranger.line(line("stays"));
  await stranger.end();
  const project = await addProject();
  const [first, second] = [await addDeployment(project), await addDeployment(project)];
  const small = new AppLogs({ database, log, maxProjectBytes: () => 2 ** 20 });
  for (const deployment_id of [first, second, first]) {
    const writer = small.writer({ deployment_id, invocation_id: createId() });
    for (let index = 0; index < 80; index += 1) writer.line(line(`${String(index)} ${"x".repeat(10_000)}`));
    await writer.end();
  }
  const sizeOf = async (deployment_id: string) => (await textsOf({ deployment_id })).join("\n").length;
  const bytes = (await sizeOf(first)) + (await sizeOf(second));
  expect(bytes).toBeLessThan(2 ** 20);
  expect(bytes).toBeGreaterThan(2 ** 19);
  // The latest invocation is whole, and the earliest has gone.
  expect((await textsOf({ deployment_id: first })).map((text) => text.split(" ")[0])).toEqual(
    Array.from({ length: 80 }, (_, index) => String(index)),
  );
  expect(await textsOf({ deployment_id: strangers })).toEqual(["stays"]);

  await logs.dropBefore(new Date(Date.now() + 60_000));
  const { rows } = await sql`select * from app_log_totals where bytes <> 0`.execute(database.query);
  expect(rows).toEqual([]);
});

it("deletes lines after the limit of projects became smaller", async () => {
  const deployment_id = await addDeployment(await addProject());
  const writer = logs.writer({ deployment_id });
  for (let index = 0; index < 100; index += 1) writer.line(line("x".repeat(10_000)));
  await writer.end();
  await new AppLogs({ database, log, maxProjectBytes: () => 2 ** 18 }).dropBefore(new Date(0));
  expect((await textsOf({ deployment_id })).join("").length).toBeLessThan(2 ** 18);
});

it("drops lines of before a date", async () => {
  const deployment_id = await addDeployment();
  for (const at of [new Date(Date.now() - 86_400_000), new Date()]) {
    const writer = logs.writer({ deployment_id });
    writer.line(line(at.toISOString(), "build", at));
    await writer.end();
  }
  await logs.dropBefore(new Date(Date.now() - 3_600_000));
  expect(await textsOf({ deployment_id })).toHaveLength(1);
});

it("sends lines as they are stored, and the last state after every line", async () => {
  const deployment_id = await addDeployment();
  const invocation_id = createId();
  const writer = logs.writer({ deployment_id, invocation_id });
  type State = FollowedState<{ readonly event: string }>;
  let state: State = { key: "running", events: [{ event: "running" }], order: "first" };
  const listeners = new Set<() => void>();
  const set = (next: State) => {
    state = next;
    for (const listener of listeners) listener();
  };
  const options = (lastEventId?: string) => ({
    logs,
    owner: { invocation_id },
    since: undefined,
    lastEventId,
    signal: new AbortController().signal,
    look: () => Promise.resolve(state),
    onChange(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  });
  const got: string[] = [];
  const ids: string[] = [];
  const following = (async () => {
    for await (const frame of followEvents(options())) {
      if (!("data" in frame)) continue;
      ids.push(frame.id);
      got.push("message" in frame.data ? frame.data.message : frame.data.event);
    }
  })();
  await expect.poll(() => got).toEqual(["running"]);
  writer.line(line("one"));
  await expect.poll(() => got).toEqual(["running", "one"]);
  for (let index = 0; index < 2000; index += 1) writer.line(line(String(index)));
  await writer.end();
  set({ key: "succeeded", events: [{ event: "succeeded" }], order: "last" });
  await following;
  expect(got).toHaveLength(2003);
  expect(got.at(-2)).toBe("1999");
  expect(got.at(-1)).toBe("succeeded");
  expect(listeners.size).toBe(0);

  const resumed: string[] = [];
  for await (const frame of followEvents(options(ids[2000])))
    if ("data" in frame) resumed.push("message" in frame.data ? frame.data.message : frame.data.event);
  expect(resumed).toEqual(["1999", "succeeded"]);
});

it("stops when the follower disconnects", async () => {
  const deployment_id = await addDeployment();
  const gone = new AbortController();
  let stopped = 0;
  const events = followEvents({
    logs,
    owner: { deployment_id },
    since: undefined,
    lastEventId: undefined,
    signal: gone.signal,
    look: () => Promise.resolve({ key: "a", events: [{ event: "a" }], order: "first" as const }),
    onChange: () => () => void (stopped += 1),
  });
  expect((await events.next()).value).toMatchObject({ data: { event: "a" } });
  expect((await events.next()).value).toMatchObject({ caughtUp: true });
  const next = events.next();
  gone.abort();
  expect((await next).done).toBe(true);
  expect(stopped).toBe(1);
});
