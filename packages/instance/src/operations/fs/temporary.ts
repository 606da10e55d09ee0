import { hasCode } from "@shoal/primitives";
import { randomBytes } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { chmod, mkdir, open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { tooLarge } from "./errors.ts";

/** Names of unfinished files, which directory watches ignore. */
export const temporaryNamePattern = /^\.shoal-[a-z0-9]+\.part$/;

export function temporaryPath(directory: string): string {
  return join(directory, `.shoal-${randomBytes(10).toString("hex")}.part`);
}

export interface StagedFile {
  readonly path: string;
  readonly sizeBytes: number;
}

export interface StagingLimit {
  readonly what: string;
  readonly bytes: number;
  readonly usedBytes?: number;
}

/** Writes with mode 0600 and backpressure. Removes the file on failure. @throws {ServiceError} 413 above the limit. */
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
    if (used + taken > limit.bytes) throw tooLarge(limit.what, limit.bytes, bytesText(limit.bytes));
    for (let offset = 0; offset < chunk.length;) offset += (await handle.write(chunk, offset)).bytesWritten;
  }
  return taken;
}

/** Formats a size for errors: `5 GiB (5368709120 bytes)`. */
export function bytesText(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  const power = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return power === 0
    ? `${bytes} bytes`
    : `${Number.isInteger(value) ? value : value.toFixed(1)} ${units[power] ?? ""} (${bytes} bytes)`;
}

/** Creates directories with exact modes, the parents with 0755. Directories that appear meanwhile stay as they are. */
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
