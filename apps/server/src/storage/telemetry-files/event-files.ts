import { hasCode } from "@shoal/primitives";
import { type FileHandle, mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Complete lines, each an envelope of the contract. */
export interface Segment {
  readonly name: string;
  readonly start: number;
  /** In microseconds since 1970. */
  readonly firstTs: number;
}

export interface PlacedLine {
  readonly line: string;
  readonly start: number;
  readonly end: number;
}

const segmentBytes = 2 ** 20;

/** @returns `undefined` for other files. */
export function segmentNamed(name: string): Segment | undefined {
  const [, start, firstTs] = /^(\d{1,16})-(\d{1,16})\.ndjson$/.exec(name) ?? [];
  return start === undefined || firstTs === undefined
    ? undefined
    : { name, start: Number(start), firstTs: Number(firstTs) };
}

/** In the order of their events; empty without a directory. */
export async function segmentsOf(directory: string): Promise<Segment[]> {
  let names: string[];
  try {
    names = await readdir(directory);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
  return names.flatMap((name) => segmentNamed(name) ?? []).sort((a, b) => a.start - b.start);
}

/** The offset after the last stored byte; `undefined` without files. */
export async function endOf(directory: string): Promise<number | undefined> {
  const last = (await segmentsOf(directory)).at(-1);
  return last === undefined ? undefined : last.start + (await stat(join(directory, last.name))).size;
}

/** 0 when missing. */
export function timeOf(line: string): number {
  return Number(/"ts":(\d{1,16})/.exec(line)?.[1] ?? 0);
}

export function seqOf(line: string): number | undefined {
  const seq = /^\{"seq":(\d{1,16})\b/.exec(line)?.[1];
  return seq === undefined ? undefined : Number(seq);
}

export interface EventWriter {
  /** Do not call concurrently. */
  append(lines: Buffer): Promise<void>;
  readonly place: number;
  close(): Promise<void>;
}

/** @param maxBytes - above it, the oldest files are deleted. */
export function writeEvents(directory: string, maxBytes: number): EventWriter {
  let file: FileHandle | undefined;
  let fileBytes = 0;
  let next: number | undefined;

  async function roll(lines: Buffer): Promise<FileHandle> {
    await file?.close();
    file = undefined;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    next ??= (await endOf(directory)) ?? 0;
    const lineEnd = lines.indexOf(10);
    file = await open(
      join(directory, `${String(next).padStart(16, "0")}-${String(timeOf(lines.toString("utf8", 0, lineEnd)))}.ndjson`),
      "a",
      0o600,
    );
    fileBytes = 0;
    for (const old of await segmentsOf(directory)) {
      if (next - old.start <= maxBytes) break;
      await rm(join(directory, old.name), { force: true });
    }
    return file;
  }

  return {
    get place() {
      return next ?? 0;
    },
    async append(lines) {
      const to = file === undefined || fileBytes >= segmentBytes ? await roll(lines) : file;
      await to.appendFile(lines);
      fileBytes += lines.length;
      next = (next ?? 0) + lines.length;
    },
    async close() {
      await file?.close();
      file = undefined;
    },
  };
}

function linesOf(content: Buffer, segment: Segment): PlacedLine[] {
  const lines: PlacedLine[] = [];
  let start = 0;
  for (let end = content.indexOf(10); end !== -1; end = content.indexOf(10, start)) {
    lines.push({
      line: content.toString("utf8", start, end),
      start: segment.start + start,
      end: segment.start + end + 1,
    });
    start = end + 1;
  }
  return lines;
}

async function load(directory: string, segment: Segment): Promise<PlacedLine[]> {
  try {
    return linesOf(await readFile(join(directory, segment.name)), segment);
  } catch (error) {
    // The file was deleted in the meantime.
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

type Start = { readonly place: number } | { readonly ts: number };

/** The segments that {@link readForward} reads, in its order. */
export function segmentsForward<Found extends Segment>(segments: readonly Found[], from: Start): Found[] {
  // Times never decrease: skip all files before the last file that begins earlier.
  const isBefore = (segment: Segment) => ("place" in from ? segment.start <= from.place : segment.firstTs < from.ts);
  return segments.slice(Math.max(0, segments.findLastIndex(isBefore)));
}

/** The segments that {@link readBackward} reads, in its order. */
export function segmentsBackward<Found extends Segment>(segments: readonly Found[], place: number): Found[] {
  return segments.filter(({ start }) => start < place).reverse();
}

/** Starts at an offset or a time (microseconds since 1970). */
export async function* readForward(directory: string, from: Start): AsyncGenerator<PlacedLine, undefined> {
  const segments = await segmentsOf(directory);
  for (const segment of segmentsForward(segments, from)) {
    for (const line of await load(directory, segment)) {
      if ("place" in from ? line.start >= from.place : timeOf(line.line) >= from.ts) yield line;
    }
  }
  return undefined;
}

export interface EventChunk {
  readonly lines: readonly string[];
  /** Offset after each line. The length of a line as text is another one if its bytes are invalid UTF-8. */
  readonly ends: readonly number[];
  readonly start: number;
  readonly next: number;
}

/**
 * The oldest remaining events when the file of the offset was deleted. `undefined` at the end.
 * @param maxBytes - exceeded only by a single longer event.
 */
export async function readChunk(directory: string, place: number, maxBytes: number): Promise<EventChunk | undefined> {
  const segments = await segmentsOf(directory);
  for (const segment of segments.slice(
    Math.max(
      0,
      segments.findLastIndex(({ start }) => start <= place),
    ),
  )) {
    const from = Math.max(place, segment.start);
    const bytes = await readLines(join(directory, segment.name), from - segment.start, maxBytes);
    if (bytes.length > 0) return chunkOf(bytes, from);
  }
  return undefined;
}

function chunkOf(bytes: Buffer, start: number): EventChunk {
  const lines: string[] = [];
  const ends: number[] = [];
  let from = 0;
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
    lines.push(bytes.toString("utf8", from, end));
    from = end + 1;
    ends.push(start + from);
  }
  return { lines, ends, start, next: start + bytes.length };
}

/** Includes line ends; empty when the file was deleted. */
async function readLines(path: string, start: number, maxBytes: number): Promise<Buffer> {
  const none = Buffer.alloc(0);
  let file: FileHandle;
  try {
    file = await open(path, "r");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return none;
    throw error;
  }
  try {
    for (let size = maxBytes; ; size *= 2) {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(size), 0, size, start);
      const end = buffer.lastIndexOf(10, bytesRead - 1);
      if (bytesRead > 0 && end !== -1) return buffer.subarray(0, end + 1);
      // An incomplete line is still being written.
      if (bytesRead < size) return none;
    }
  } finally {
    await file.close();
  }
}

/** Yields events before an offset, newest first. */
export async function* readBackward(directory: string, place: number): AsyncGenerator<PlacedLine, undefined> {
  for (const segment of segmentsBackward(await segmentsOf(directory), place)) {
    for (const line of (await load(directory, segment)).reverse()) if (line.end <= place) yield line;
  }
  return undefined;
}
