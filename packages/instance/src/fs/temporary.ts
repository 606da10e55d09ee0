import { randomBytes } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { chmod, mkdir, open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { hasCode, tooLarge } from "./errors.ts";

/** What names of unfinished files and directories look like; the directory watch says nothing of them. */
export const temporaryNamePattern = /^\.shoal-[a-z0-9]+\.part$/;

/** A new path in `directory` for something that is not whole yet. */
export function temporaryPath(directory: string): string {
  return join(directory, `.shoal-${randomBytes(10).toString("hex")}.part`);
}

/** A temporary file whose content is whole. */
export interface StagedFile {
  readonly path: string;
  readonly sizeBytes: number;
}

/** How much of a stream is taken, and what it is in an error. */
export interface StagingLimit {
  readonly what: string;
  readonly bytes: number;
  /** Bytes of it that other streams have used up. */
  readonly usedBytes?: number;
}

/**
 * Writes a stream to a new temporary file (mode 0600), no faster than the disk takes it. Nothing is left when it fails.
 *
 * @throws {ServiceError} 413 above the limit; else what the stream or the filesystem fails with.
 */
export async function stageFile(directory: string, source: Readable, limit: StagingLimit): Promise<StagedFile> {
  const path = temporaryPath(directory);
  const handle = await open(path, "wx", 0o600);
  try {
    try {
      return { path, sizeBytes: await writeAll(handle, source, limit) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

async function writeAll(handle: FileHandle, source: Readable, limit: StagingLimit): Promise<number> {
  const used = limit.usedBytes ?? 0;
  let taken = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    taken += chunk.length;
    if (used + taken > limit.bytes) throw tooLarge(limit.what, bytesText(limit.bytes));
    for (let offset = 0; offset < chunk.length;) offset += (await handle.write(chunk, offset)).bytesWritten;
  }
  return taken;
}

/** `5 GiB (5368709120 bytes)`: sizes as errors name them. */
export function bytesText(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  const power = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return power === 0 ? `${bytes} bytes` : `${Number.isInteger(value) ? value : value.toFixed(1)} ${units[power] ?? ""} (${bytes} bytes)`;
}

/**
 * Makes directories one below the other, each with its mode whatever the umask is; those that appear meanwhile are left as they are.
 *
 * @param mode - of the last one; those above it get 0755.
 * @returns path of the last one.
 */
export async function makeDirectories(base: string, names: readonly string[], mode = 0o755): Promise<string> {
  let path = base;
  for (const [index, name] of names.entries()) {
    path = join(path, name);
    const wanted = index === names.length - 1 ? mode : 0o755;
    try {
      await mkdir(path, wanted);
      await chmod(path, wanted);
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
      if (!(await stat(path)).isDirectory()) throw Object.assign(new Error("not a directory"), { code: "ENOTDIR" });
    }
  }
  return path;
}
