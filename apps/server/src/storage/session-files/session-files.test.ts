import { createId } from "@shoal/primitives";
import type { Database } from "@shoal/database";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sessionRow } from "../../testing/session-row.ts";
import { createFileBlobs } from "../blobs/blobs.ts";
import { createSecrets } from "../secrets.ts";
import { type SessionFileRef, SessionFiles } from "./session-files.ts";
import { openTestDatabase } from "../../testing/test-database.ts";

const signal = new AbortController().signal;
const secrets = createSecrets("s".repeat(32));
const pieceBytes = 200_000;
let folder: string;
let blobsFolder: string;
let database: Database;
let files: SessionFiles;
let projectId: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-session-files-"));
  blobsFolder = join(folder, "blobs");
  ({ database } = await openTestDatabase(join(folder, "database")));
  files = new SessionFiles({ database, secrets, blobs: createFileBlobs(blobsFolder), isUploading: true, pieceBytes });
  projectId = (await database.query.selectFrom("projects").select("id").executeTakeFirstOrThrow()).id;
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

async function newRef(kind: SessionFileRef["kind"] = "recording"): Promise<SessionFileRef> {
  const id = createId();
  await database.query
    .insertInto("sessions")
    .values(sessionRow({ id, project_id: projectId, ended_at: new Date(), ended_reason: "deleted" }))
    .execute();
  return { sessionId: id, projectId, kind, name: "one" };
}
const fileOf = (content: Buffer, keptFrom = new Date()) => ({
  sizeBytes: content.length,
  keptFrom,
  read: (start: number, end: number) => Readable.from([content.subarray(start, end + 1)]),
});
const found = async ({ kind, name, sessionId }: SessionFileRef) => {
  const file = await files.find(sessionId, kind, name);
  if (file === undefined) throw new Error("The file is missing.");
  return file;
};

it("stores a file in encrypted pieces, continues an interrupted upload, and reads any part", async () => {
  const ref = await newRef();
  const content = randomBytes(2 * pieceBytes + 1000);
  const ends: number[] = [];
  const fails = {
    ...fileOf(content),
    read(start: number, end: number) {
      ends.push(end);
      // The second piece breaks off.
      return Readable.from([content.subarray(start, ends.length === 2 ? end - 5 : end + 1)]);
    },
  };
  await files.announce(ref, { title: "announced" });
  await expect(files.upload(ref, fails, signal)).rejects.toThrow("The file changed during its upload.");
  expect(await found(ref)).toMatchObject({ isStored: false, description: { title: "announced" } });
  expect(await files.hasAny(ref.sessionId, "recording")).toBe(true);
  expect(await files.hasAny(ref.sessionId, "telemetry")).toBe(false);
  // A row keeps its size of pieces.
  const later = new SessionFiles({ database, secrets, blobs: createFileBlobs(blobsFolder), isUploading: true });
  await later.upload(ref, fails, signal);
  expect(ends.map((end) => Math.floor(end / pieceBytes))).toEqual([0, 1, 1, 2]);
  await files.complete(ref, fails, { title: "whole" });
  const file = await found(ref);
  expect([file.isStored, file.description, file.sizeBytes, file.blobs.length]).toEqual([
    true,
    { title: "whole" },
    content.length,
    3,
  ]);
  const hash = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
  expect(hash(await buffer(files.read(file)))).toBe(hash(content));
  for (const [start, end] of [
    [0, 0],
    [pieceBytes - 3, pieceBytes + 3],
    [pieceBytes, pieceBytes],
    [pieceBytes - 1, 2 * pieceBytes + 5],
    [content.length - 1, content.length - 1],
  ] as const)
    expect((await buffer(files.read(file, { start, end }))).equals(content.subarray(start, end + 1))).toBe(true);
  for (const name of readdirSync(blobsFolder))
    expect(readFileSync(join(blobsFolder, name)).includes(content.subarray(100, 116))).toBe(false);
  const raw = await database.query.selectFrom("session_files").select("description").executeTakeFirstOrThrow();
  expect(raw.description.toString("latin1")).not.toContain("whole");
  truncateSync(join(blobsFolder, file.blobs[1] ?? ""), 1000);
  await expect(buffer(files.read(file))).rejects.toThrow("truncated");
  rmSync(join(blobsFolder, file.blobs[1] ?? ""));
  await expect(buffer(files.read(file))).rejects.toThrow("Part 2 of the recording one of browser");
  expect(await files.usedBytes(projectId, "recording")).toBe(content.length);
});

it("changes descriptions one after the other", async () => {
  const ref = await newRef();
  await files.complete(ref, fileOf(Buffer.alloc(0)), { count: 0 });
  const file = await found(ref);
  const add = (description: unknown) => ({ count: (description as { count: number }).count + 1 });
  await Promise.all(Array.from({ length: 10 }, () => files.describe(file, add)));
  expect((await found(ref)).description).toEqual({ count: 10 });
  expect(await buffer(files.read(file))).toHaveLength(0);
});

it("deletes rows and objects after their retention, and objects without a row", async () => {
  const old = await newRef("download");
  const young = await newRef("download");
  const [before, after] = [new Date("2026-01-01"), new Date("2026-03-01")];
  for (const [ref, keptFrom] of [
    [old, before],
    [young, after],
  ] as const) {
    const file = fileOf(Buffer.from("content"), keptFrom);
    await files.upload(ref, file, signal);
    await files.complete(ref, file, {});
  }
  const [oldBlob = "", youngBlob = ""] = [...(await found(old)).blobs, ...(await found(young)).blobs];
  expect(readdirSync(blobsFolder)).toEqual(expect.arrayContaining([oldBlob, youngBlob]));
  expect(await files.dropBefore("recording", new Date("2026-02-01"))).toBe(0);
  expect(await files.dropBefore("download", new Date("2026-02-01"))).toBe(1);
  expect(readdirSync(blobsFolder)).not.toContain(oldBlob);
  expect(await files.sweep()).toBe(0);
  expect((await buffer(files.read(await found(young)))).toString()).toBe("content");
});
