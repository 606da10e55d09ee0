import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import type { Database } from "@shoal/database";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createFileBlobs } from "../../storage/blobs/blobs.ts";
import { createSecrets } from "../../storage/secrets.ts";
import { inTwoYears } from "../../testing/in-two-years.ts";
import { openTestDatabase } from "../../testing/test-database.ts";
import { type NewSnapshot, SnapshotStore } from "./snapshot-store.ts";

const folder = mkdtempSync(join(tmpdir(), "shoal-snapshots-"));
let database: Database;
beforeAll(async () => {
  ({ database } = await openTestDatabase(folder));
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

const snapshot: NewSnapshot = {
  sessionId: "s1",
  name: undefined,
  engine: "restored",
  notExactBecause: undefined,
  pausedMs: 0,
  unpackedBytes: 0,
  compatibility: undefined,
  settings: {},
};
const goesOn = new AbortController().signal;

async function open() {
  const { id } = await database.query.selectFrom("projects").select("id").executeTakeFirstOrThrow();
  const store = new SnapshotStore({
    database,
    blobs: createFileBlobs(join(folder, "blobs")),
    secrets: createSecrets("secret"),
    retentionDays: 1,
    quota: { maxCount: 100, maxBytes: 1_000_000 },
  });
  return { id, store };
}

it("limits the snapshots of a project that are taken at once, before a session is paused", async () => {
  const { id, store } = await open();
  const asked = await Promise.allSettled([1, 2, 3, 4, 5].map(() => store.reserve(id)));
  const releases = asked.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const refusal = { status: 409, limit: 4, retryAfterSeconds: 15 };
  expect([releases.length, asked.at(-1)]).toMatchObject([4, { status: "rejected", reason: refusal }]);
  (await store.reserve("another"))();
  releases[0]?.();
  const again = await store.reserve(id);
  await expect(store.reserve(id)).rejects.toMatchObject(refusal);
  for (const release of [again, ...releases.slice(1)]) release();
  (await store.reserve(id))();
});

it("does not keep the snapshot of a caller who leaves while it waits for a slow one", async () => {
  const { id, store } = await open();
  const leaving = new AbortController();
  const [slow, left] = [new PassThrough(), new PassThrough()];
  const adding = [store.add(id, snapshot, slow, goesOn), store.add(id, snapshot, left, leaving.signal)] as const;
  leaving.abort(new Error("left"));
  await expect(adding[1]).rejects.toThrow("left");
  expect(left.destroyed).toBe(true);
  slow.end("state");
  expect(await adding[0]).toMatchObject({ session_id: "s1" });
});

it("answers 404 for a snapshot that is deleted while a session starts from it", async () => {
  const { id, store } = await open();
  const added = await store.add(id, snapshot, Readable.from([Buffer.from("state")]), goesOn);
  const found = await store.find(id, added.id);
  await store.delete(id, added.id);
  await expect(found.open()).rejects.toMatchObject({ status: 404, field: "body.snapshot" });
});

it("keeps snapshots on a server whose clock is ahead", async () => {
  const { id, store } = await open();
  const added = await store.add(id, snapshot, Readable.from([Buffer.from("state")]), goesOn);
  await inTwoYears(() => store.clean());
  expect(await store.get(id, added.id)).toMatchObject({ id: added.id });
});

it("removes expired snapshots with their content, and keeps the others", async () => {
  const { id, store } = await open();
  const add = () => store.add(id, snapshot, Readable.from([Buffer.from("state")]), goesOn);
  const [expired, kept] = [await add(), await add()];
  const find = (snapshotId: string) =>
    database.query.selectFrom("snapshots").select("blob").where("id", "=", snapshotId).executeTakeFirst();
  const pathOf = async (snapshotId: string) => join(folder, "blobs", (await find(snapshotId))?.blob ?? "");
  const [left, present] = [await pathOf(expired.id), await pathOf(kept.id)];
  expect([left, present].map((path) => existsSync(path))).toEqual([true, true]);
  await database.query
    .updateTable("snapshots")
    .set({ expires_at: new Date(0) })
    .where("id", "=", expired.id)
    .execute();
  await store.clean();
  expect(await find(expired.id)).toBeUndefined();
  expect(await find(kept.id)).toBeDefined();
  expect([left, present].map((path) => existsSync(path))).toEqual([false, true]);
});
