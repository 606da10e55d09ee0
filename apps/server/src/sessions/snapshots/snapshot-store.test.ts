import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
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

it("limits the snapshots of a project that wait for a slow one, and drops the content of refused ones", async () => {
  const { id } = await database.query.selectFrom("projects").select("id").executeTakeFirstOrThrow();
  const store = new SnapshotStore({
    database,
    blobs: createFileBlobs(join(folder, "blobs")),
    secrets: createSecrets("secret"),
    retentionDays: 1,
    quota: { maxCount: 100, maxBytes: 1_000_000 },
  });
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
