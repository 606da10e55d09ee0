import { once } from "node:events";
import { createReadStream, createWriteStream, fstat, open as openDescriptor } from "node:fs";
import { mkdir, open, opendir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { BoundedContent, MeasuredContent } from "./measured-content.ts";
import { createId, hasCode, isId } from "@shoal/primitives";

export interface StoredBlob {
  readonly name: string;
  readonly sizeBytes: number;
}

export interface HashedBlob extends StoredBlob {
  /** Lower-case hex. */
  readonly sha256: string;
}

/** Inclusive, from 0; the end must be inside the blob. */
export interface BlobRange {
  readonly start: number;
  readonly end: number;
}

export interface PutOptions {
  /** Longer content fails with `BlobTooLarge`. */
  readonly maxBytes: number;
  /** Checks the complete content, a temporary file. When it throws, `put` throws the same error and stores nothing. */
  readonly check?: (path: string) => Promise<void>;
}

/** Large content that is stored outside the database. Rows refer to blobs by name; a sweep removes the others. */
export interface Blobs {
  /** Ends a message that begins with "… is not": the location, and a precondition to check. */
  readonly place: string;
  /** Stores a stream whole or not at all; it is durable when this resolves. @throws errors of the stream, unchanged. */
  put(source: Readable, options: PutOptions): Promise<StoredBlob>;
  /** `sizeBytes` is the length of the stream. @param range - default: everything. */
  get(name: string, range?: BlobRange): Promise<{ readonly stream: Readable; readonly sizeBytes: number } | undefined>;
  /** Ignores an unknown name. During a backup, files stay for the sweep. */
  delete(name: string): Promise<void>;
  /** Lists the names of blobs whose upload began before `date`. */
  listOlderThan(date: Date): AsyncIterable<string>;
}

const openFile = promisify(openDescriptor);
const statFile = promisify(fstat);
const unfinished = ".part";
/** Small chunks cost more than their bytes. */
const readBytes = 2 ** 18;
const writeBytes = 2 ** 20;

function isMissing(error: unknown): boolean {
  return hasCode(error, "ENOENT");
}

/** Several servers may share the folder. @param mayDelete - false during a backup, which reads the files last. */
export function createFileBlobs(directory: string, mayDelete: () => Promise<boolean> = async () => true): Blobs {
  const pathOf = (name: string) => join(directory, name);

  return {
    place: "in this server's blobs_dir. Replicas must share that folder.",

    async put(source, { maxBytes, check }) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const name = createId();
      const part = pathOf(name) + unfinished;
      const content = new BoundedContent(source, maxBytes);
      const file = createWriteStream(part, { flags: "wx", mode: 0o600, flush: true, highWaterMark: writeBytes });
      try {
        await pipeline(content.chunks(), file);
        await check?.(part);
        await rename(part, pathOf(name));
      } catch (error) {
        // After an error, `pipeline` does not wait until the file is closed, or even created.
        if (!file.closed) await once(file, "close").catch(() => undefined);
        await rm(part, { force: true });
        throw error;
      }
      if (process.platform !== "win32") {
        const folder = await open(directory, "r");
        try {
          await folder.sync();
        } finally {
          await folder.close();
        }
      }
      return { name, sizeBytes: content.sizeBytes };
    },

    async get(name, range) {
      if (!isId(name)) return undefined;
      // An open file can still be read after its deletion.
      const fd = await openFile(pathOf(name), "r").catch((error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      });
      if (fd === undefined) return undefined;
      const stream = createReadStream("", { fd, ...range, highWaterMark: readBytes });
      try {
        const { size } = await statFile(fd);
        return { stream, sizeBytes: range === undefined ? size : range.end - range.start + 1 };
      } catch (error) {
        stream.destroy();
        throw error;
      }
    },

    async delete(name) {
      if (isId(name) && (await mayDelete())) await rm(pathOf(name), { force: true });
    },

    async *listOlderThan(date) {
      const entries = await opendir(directory).catch((error: unknown) => {
        if (isMissing(error)) return [];
        throw error;
      });
      for await (const { name } of entries) {
        const found = await stat(pathOf(name)).catch(() => undefined);
        if (found?.isFile() !== true || found.mtime >= date) continue;
        // A killed server began this upload.
        if (name.endsWith(unfinished)) await rm(pathOf(name), { force: true });
        else if (isId(name)) yield name;
      }
    },
  };
}

/** Like `put`, with a checksum. Encrypted content has its own, so `put` calculates none. */
export async function putHashed(blobs: Pick<Blobs, "put">, source: Readable, options: PutOptions): Promise<HashedBlob> {
  const content = new MeasuredContent(source, options.maxBytes);
  const blob = await blobs.put(Readable.from(content.chunks(), { objectMode: false }), options);
  return { ...blob, ...content.result() };
}

/** Whether this server can read the blob. */
export async function hasBlob(blobs: Pick<Blobs, "get">, name: string): Promise<boolean> {
  const found = await blobs.get(name);
  found?.stream.destroy();
  return found !== undefined;
}

/** Blobs without a row are removed after this time: the row follows the content. */
const graceMs = 6 * 60 * 60 * 1000;

/** @param named - returns the names that a row refers to. @returns the number of removed blobs. */
export async function sweepBlobs(
  blobs: Blobs,
  named: (names: readonly string[]) => Promise<ReadonlySet<string>>,
  now = Date.now(),
): Promise<number> {
  let removed = 0;
  let batch: string[] = [];
  async function settle(): Promise<void> {
    const kept = batch.length === 0 ? new Set<string>() : await named(batch);
    const orphans = batch.filter((name) => !kept.has(name));
    batch = [];
    removed += orphans.length;
    for (const name of orphans) await blobs.delete(name);
  }
  for await (const name of blobs.listOlderThan(new Date(now - graceMs))) {
    batch.push(name);
    if (batch.length >= 500) await settle();
  }
  await settle();
  return removed;
}
