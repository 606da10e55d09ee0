import { createId } from "@shoal/primitives";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createFileBlobs } from "../../storage/blobs/blobs.ts";
import { createSecrets } from "../../storage/secrets.ts";
import { SessionFiles } from "../../storage/session-files/session-files.ts";
import { sessionRow } from "../../testing/session-row.ts";
import { openTestDatabase, type TestDatabase } from "../../testing/test-database.ts";
import { DownloadStore } from "./download-store.ts";
import { KeptFiles, type KeptOf } from "./kept-files.ts";

const [earlier, present] = ["earlier ".repeat(8), "present ".repeat(8)];
const signal = new AbortController().signal;
let folder: string;
let directory: string;
let database: TestDatabase["database"];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-moved-"));
  directory = join(folder, "downloads");
  ({ database } = await openTestDatabase(join(folder, "database")));
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A store of a server with these secrets. */
function storeWith(...[secret, ...previous]: [string, ...string[]]): DownloadStore {
  const secrets = createSecrets(secret, previous);
  const blobs = createFileBlobs(join(folder, "blobs"));
  const stored = new SessionFiles({ database, secrets, blobs, isUploading: true });
  const log = pino({ level: "silent" });
  return new DownloadStore({ directory, retentionHours: 1, maxBytes: 1_000_000, secrets, stored, log });
}

async function keep(of: KeptOf, id: string, secret: string): Promise<void> {
  const files = new KeptFiles(directory, createSecrets(secret));
  const { sizeBytes } = await files.store(of, id, Readable.from([Buffer.from(`content of ${id}`)]), 1000);
  const finished = new Date().toISOString();
  await files.write(of, {
    ...{ download_id: id, name: `${id}.txt`, path: `/downloads/${id}.txt`, state: "completed", sha256: null },
    ...{ size_bytes: sizeBytes, received_bytes: sizeBytes, origin_url: "https://shop.example/" },
    ...{ started_at: finished, finished_at: finished },
  });
}

it("keeps downloads of an earlier secret, and uploads them when a server has that secret", async () => {
  const { id: projectId } = await database.query.selectFrom("projects").select("id").executeTakeFirstOrThrow();
  const of = { sessionId: createId(), projectId };
  await database.query
    .insertInto("sessions")
    .values(sessionRow({ id: of.sessionId, project_id: projectId, ended_at: new Date(), ended_reason: "deleted" }))
    .execute();
  await keep(of, "old", earlier);
  await keep(of, "new", present);
  const changedMs = await new KeptFiles(directory, createSecrets(present)).changedMs(of);

  const without = storeWith(present);
  await without.store(of, true, signal);
  const idsOf = async (store: DownloadStore) => (await store.list(of)).map(({ download_id }) => download_id);
  expect([await idsOf(without), await without.hasLocal(of)]).toEqual([["new"], true]);
  // The retention goes on.
  expect(await new KeptFiles(directory, createSecrets(present)).changedMs(of)).toBeCloseTo(changedMs, -1);
  const bytes = await new KeptFiles(directory, createSecrets(present)).usedBytes(of);
  expect((await without.usedBytes()).get(projectId)).toBe(bytes);

  const store = storeWith(present, earlier);
  await store.store(of, true, signal);
  expect([await idsOf(store), await store.hasLocal(of)]).toEqual([["old", "new"], false]);
  for (const download of await store.list(of))
    expect(await text(await store.read(of, download))).toBe(`content of ${download.download_id}`);
  expect((await store.usedBytes()).get(projectId)).toBe(0);
});
