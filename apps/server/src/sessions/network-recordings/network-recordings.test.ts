import type { Database } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { eventually } from "@shoal/testkit";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type Blobs, createFileBlobs } from "../../storage/blobs/blobs.ts";
import { createSecrets } from "../../storage/secrets.ts";
import { inTwoYears } from "../../testing/in-two-years.ts";
import { openTestDatabase } from "../../testing/test-database.ts";
import { NetworkRecordings, type NetworkRecordingsParts } from "./network-recordings.ts";

const signal = new AbortController().signal;
const request = { method: "GET", url: "https://shop.example/", isConditional: false };
let folder: string;
let database: Database;
let projectId: string;
let blobs: Blobs;
let isStoreDown: boolean;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-network-recordings-"));
  ({ database } = await openTestDatabase(join(folder, "database")));
  projectId = (await database.query.selectFrom("projects").select("id").executeTakeFirstOrThrow()).id;
  const files = createFileBlobs(join(folder, "blobs"));
  blobs = {
    ...files,
    put: (source, options) => (isStoreDown ? Promise.reject(new Error("503")) : files.put(source, options)),
  };
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  isStoreDown = false;
  await database.query.deleteFrom("network_recordings").execute();
});

function open(more: Partial<NetworkRecordingsParts> = {}): NetworkRecordings {
  return new NetworkRecordings({
    ...{
      database,
      blobs,
      folder: join(folder, "running"),
      serverId: "server",
      retentionDays: 30,
      log: pino({ level: "silent" }),
    },
    secrets: createSecrets("s".repeat(32)),
    quota: { maxRunning: 2, maxBytes: 2 ** 30 },
    ...more,
  });
}

async function record(recordings: NetworkRecordings) {
  const of = { id: createId(), projectId, sessionId: createId() };
  const recorder = await recordings.start(of);
  const exchange = recorder.begin(request);
  exchange.head({ status: 200, statusText: "Fine", headers: [] });
  exchange.data(Buffer.from("content"), 0);
  exchange.end("complete", "");
  return of;
}

async function contentOf(recordings: NetworkRecordings, recording: string): Promise<string | undefined> {
  const player = await recordings.player(projectId, { recording, on_missing: "fail", clock: "real" }, signal);
  const chunks = player.next(request, "")?.chunks();
  if (chunks === undefined) return undefined;
  let all = "";
  for await (const { bytes } of chunks) all += Buffer.from(bytes).toString();
  return all;
}

it("stores a recording after an outage of the store, and the end of its session does not wait for that", async () => {
  isStoreDown = true;
  const recordings = open();
  const { id, sessionId } = await record(recordings);
  await recordings.finish(sessionId);
  expect(await recordings.get(projectId, id)).toMatchObject({ status: "recording" });
  expect(readdirSync(join(folder, "running"))).toEqual([id]);
  isStoreDown = false;
  expect(await contentOf(recordings, id)).toBe("content");
  expect(await recordings.get(projectId, id)).toMatchObject({ status: "complete", requests: 1 });
  expect(readdirSync(join(folder, "running"))).toEqual([]);
});

it("stores complete files of an earlier run, and marks recordings of sessions that it killed as failed", async () => {
  isStoreDown = true;
  const earlier = open();
  const complete = await record(earlier);
  const killed = await record(earlier);
  await earlier.finish(complete.sessionId);
  const sizeOf = async () => (await earlier.get(projectId, complete.id)).size_bytes;
  await eventually("the row has its totals", async () => (await sizeOf()) > 0);
  const later = open({ blobs: createFileBlobs(join(folder, "blobs")) });
  await later.recover();
  expect(await contentOf(later, complete.id)).toBe("content");
  expect(await later.get(projectId, killed.id)).toMatchObject({ status: "failed" });
  await earlier.drop(killed.sessionId);
  await earlier.settled(0);
});

it("shares the index between replays, and deleted recordings answer nothing more", async () => {
  const recordings = open();
  const { id, sessionId } = await record(recordings);
  await recordings.finish(sessionId);
  const replay = { recording: id, on_missing: "fail", clock: "real" } as const;
  const [first, second] = await Promise.all([0, 1].map(() => recordings.player(projectId, replay, signal)));
  expect(first?.next(request, "")?.head?.headers).toBe(second?.next(request, "")?.head?.headers);
  await recordings.delete(projectId, id);
  expect(first?.next(request, "")).toBeUndefined();
  expect(second?.explain(request)).toBe(`The recording ${id} was deleted.`);
});

it("answers 404 for a recording that is deleted while a replay of it starts", async () => {
  const recordings = open();
  const { id, sessionId } = await record(recordings);
  await recordings.finish(sessionId);
  await recordings.settled();
  const blobs = createFileBlobs(join(folder, "blobs"));
  const replaying = open({
    blobs: {
      ...blobs,
      async get() {
        await recordings.delete(projectId, id);
        return undefined;
      },
    },
  });
  const player = replaying.player(projectId, { recording: id, on_missing: "fail", clock: "real" }, signal);
  await expect(player).rejects.toMatchObject({ status: 404, field: "body.replay.recording" });
});

it("keeps recordings and their rows on a server whose clock is ahead", async () => {
  const recordings = open();
  const { id, sessionId } = await record(recordings);
  await recordings.finish(sessionId);
  await recordings.settled();
  await inTwoYears(() => recordings.clean());
  expect(await contentOf(recordings, id)).toBe("content");
});

it("limits the running recordings of a project, and the bytes of all of them", async () => {
  const recordings = open();
  const running = [await record(recordings), await record(recordings)];
  await expect(record(recordings)).rejects.toMatchObject({ status: 409, limit: 2 });
  const other = open();
  const parallel = await Promise.allSettled(Array.from({ length: 5 }, () => record(other)));
  expect(parallel.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
  for (const started of parallel) if (started.status === "fulfilled") await other.drop(started.value.sessionId);
  await other.drop((await record(other)).sessionId);
  for (const { sessionId } of running) await recordings.finish(sessionId);
  await recordings.settled();
  const full = open({ quota: { maxRunning: 2, maxBytes: 100 } });
  await expect(record(full)).rejects.toMatchObject({ status: 507, code: "insufficient_storage" });
  for (const { id } of running) await recordings.delete(projectId, id);
  const { sessionId } = await record(full);
  await full.drop(sessionId);
});
