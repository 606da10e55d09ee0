import { hasCode } from "@shoal/primitives";
import { unreadableArchive } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { FileHandle } from "node:fs/promises";
import { crc32, inflateRawSync } from "node:zlib";
import type { Entry, ZipFile } from "yauzl";
import { unsafe, type DeclaredEntry } from "./zip-plan.ts";

export interface Archive {
  readonly zip: ZipFile;
  /** The same file, for reading without the library. */
  readonly bytes: FileHandle;
}

export interface ReadableEntry extends DeclaredEntry {
  readonly raw: Entry;
}

/** Entries up to this size are read at once: streams would dominate the time for archives of small files. */
const smallBytes = 64 * 1024;

/** @throws {ServiceError} 400 `unsafe_archive` for too much content, 400 `bad_request` for damaged content. */
export async function* contentOf(archive: Archive, entry: ReadableEntry): AsyncGenerator<Buffer> {
  const { name, sizeBytes } = entry;
  let size = 0;
  let checksum = 0;
  for await (const chunk of entry.packedBytes <= smallBytes && sizeBytes <= smallBytes
    ? wholeOf(archive, entry)
    : streamOf(archive, entry)) {
    size += chunk.length;
    if (size > sizeBytes) throw tooMuch(entry);
    checksum = crc32(chunk, checksum);
    yield chunk;
  }
  if (size < sizeBytes) throw damaged(`its entry ${quoted(name)} holds ${size} bytes and declares ${sizeBytes}`);
  if (checksum !== entry.raw.crc32) throw damaged(`the checksum of its entry ${quoted(name)} is wrong`);
}

async function* wholeOf({ bytes, zip }: Archive, entry: ReadableEntry): AsyncGenerator<Buffer> {
  const { fileDataStart } = await readingArchive(
    () => zip.readLocalFileHeaderPromise(entry.raw, { minimal: true }),
    entry.name,
  );
  const packed = Buffer.allocUnsafe(entry.packedBytes);
  const { bytesRead } = await bytes.read(packed, 0, packed.length, fileDataStart);
  if (bytesRead < packed.length) throw damaged(`its entry ${quoted(entry.name)} goes beyond the end`);
  if (entry.method === 0) {
    yield packed;
    return;
  }
  try {
    yield inflateRawSync(packed, { maxOutputLength: Math.max(entry.sizeBytes, 1) });
  } catch (error) {
    if (hasCode(error, "ERR_BUFFER_TOO_LARGE")) throw tooMuch(entry);
    throw error instanceof Error ? damaged(`its entry ${quoted(entry.name)}: ${error.message}`, error) : error;
  }
}

async function* streamOf({ zip }: Archive, entry: ReadableEntry): AsyncGenerator<Buffer> {
  const stream = await readingArchive(() => zip.openReadStreamPromise(entry.raw), entry.name);
  const chunks = (stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await readingArchive(() => chunks.next(), entry.name);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    stream.destroy();
  }
}

export async function readingArchive<T>(work: () => Promise<T>, name?: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error) || ServiceError.isInstance(error) || "syscall" in error) throw error;
    throw damaged(`${name === undefined ? "" : `its entry ${quoted(name)}: `}${error.message}`, error);
  }
}

function damaged(reason: string, cause?: Error): ServiceError {
  return ServiceError.of(unreadableArchive(reason), cause === undefined ? {} : { cause });
}

function tooMuch({ name, sizeBytes }: DeclaredEntry): ServiceError {
  return unsafe(name, `it contains more than its declared ${sizeBytes} bytes`);
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 200));
}
