import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, opendir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { createId, isId } from "../ids.ts";

/** What was stored. */
export interface StoredBlob {
  /** How it is found again; made by the store. */
  readonly name: string;
  readonly sizeBytes: number;
  /** Hexadecimal, in lower case. */
  readonly sha256: string;
}

export interface PutOptions {
  /** @throws {BlobTooLarge} as soon as more has come. */
  readonly maxBytes: number;
  /** Looks at the whole content, which is a file for that moment; what it throws is what `put` throws, and nothing is stored. */
  readonly check?: (path: string) => Promise<void>;
}

/** Large contents beside the database. Who stores one keeps its name in a row; what no row names is swept. */
export interface Blobs {
  /** For messages, after "is not": where contents lie, and what must be seen to. */
  readonly place: string;
  /** Stores a stream whole or not at all; it is durable when this resolves. @throws what the stream fails with. */
  put(source: Readable, options: PutOptions): Promise<StoredBlob>;
  /** @returns `undefined` when there is none of this name. */
  get(name: string): Promise<{ readonly stream: Readable; readonly sizeBytes: number } | undefined>;
  /** Removes one, if it is there. */
  delete(name: string): Promise<void>;
  /** Those that were stored, or begun, before a moment: candidates of a sweep. */
  listOlderThan(date: Date): AsyncIterable<string>;
}

/** More bytes came than may be stored. */
export class BlobTooLarge extends Error {
  override readonly name = "BlobTooLarge";
}

const unfinished = ".part";

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** Blobs as files of one folder, which several servers may share. */
export function createFileBlobs(directory: string): Blobs {
  const pathOf = (name: string) => join(directory, name);

  return {
    place: "in this server's blobs_dir. Replicas must share that folder.",

    async put(source, { maxBytes, check }) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const name = createId();
      const part = pathOf(name) + unfinished;
      const hash = createHash("sha256");
      let sizeBytes = 0;
      try {
        const file = await open(part, "wx", 0o600);
        try {
          for await (const chunk of source as AsyncIterable<Buffer>) {
            sizeBytes += chunk.length;
            if (sizeBytes > maxBytes) throw new BlobTooLarge(`More than ${String(maxBytes)} bytes.`);
            hash.update(chunk);
            await file.writeFile(chunk);
          }
          await file.sync();
        } finally {
          await file.close();
        }
        await check?.(part);
        await rename(part, pathOf(name));
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
      if (process.platform !== "win32") {
        const folder = await open(directory, "r");
        await folder.sync().finally(() => folder.close());
      }
      return { name, sizeBytes, sha256: hash.digest("hex") };
    },

    async get(name) {
      if (!isId(name)) return undefined;
      try {
        const { size } = await stat(pathOf(name));
        return { stream: createReadStream(pathOf(name)), sizeBytes: size };
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },

    async delete(name) {
      if (isId(name)) await rm(pathOf(name), { force: true });
    },

    async *listOlderThan(date) {
      const entries = await opendir(directory).catch((error: unknown) => {
        if (isMissing(error)) return [];
        throw error;
      });
      for await (const { name } of entries) {
        const found = await stat(pathOf(name)).catch(() => undefined);
        if (found?.isFile() !== true || found.mtime >= date) continue;
        // What a killed server began nobody names.
        if (name.endsWith(unfinished)) await rm(pathOf(name), { force: true });
        else if (isId(name)) yield name;
      }
    },
  };
}

/** An upload that takes longer between its content and its row has failed. */
const graceMs = 6 * 60 * 60 * 1000;

/**
 * Removes blobs that no row names.
 *
 * @param named - those of some names that rows name.
 * @returns how many were removed.
 */
export async function sweepBlobs(blobs: Blobs, named: (names: readonly string[]) => Promise<ReadonlySet<string>>, now = Date.now()): Promise<number> {
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
