import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import type { Database } from "@shoal/database";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createFileBlobs } from "../../storage/blobs/blobs.ts";
import { createSecrets } from "../../storage/secrets.ts";
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

it("limits the snapshots of a project that wait for a slow one, and drops the content of refused ones", async () => {
  const { id, store } = await open();
  const leaving = new AbortController();
  const contents = [0, 1, 2, 3].map(() => new PassThrough());
  const adding = contents.map((content, place) =>
    store.add(id, snapshot, content, place === 3 ? leaving.signal : goesOn),
  );
  const refused = new PassThrough();
  const refusal = { status: 409, limit: 4, retryAfterSeconds: 15 };
  await expect(store.add(id, snapshot, refused, goesOn)).rejects.toMatchObject(refusal);
  expect(refused.destroyed).toBe(true);
  await expect(store.requireRoom(id)).rejects.toMatchObject(refusal);
  await expect(store.requireRoom("another")).resolves.toBeUndefined();
  // A caller that leaves makes room.
  leaving.abort(new Error("left"));
  await expect(adding[3]).rejects.toThrow("left");
  await expect(store.requireRoom(id)).resolves.toBeUndefined();
  for (const content of contents.slice(0, 3)) content.end("state");
  expect(await Promise.all(adding.slice(0, 3))).toHaveLength(3);
  await expect(store.requireRoom(id)).resolves.toBeUndefined();
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
