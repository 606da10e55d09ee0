import { type FileHandle, mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

/** One file of a session's events: whole lines, each an envelope of the contract. */
interface Segment {
  readonly name: string;
  /** Place of its first byte among all that were ever written. */
  readonly start: number;
  /** Time of its first event, in microseconds since 1970. */
  readonly firstTs: number;
}

/** An event with its place. */
export interface PlacedLine {
  readonly line: string;
  /** Place of its first byte. */
  readonly start: number;
  /** Place after it and its line end. */
  readonly end: number;
}

/** A file that has grown so long is followed by another. */
const segmentBytes = 2 ** 20;

function parseName(name: string): Segment | undefined {
  const [, start, firstTs] = /^(\d{1,16})-(\d{1,16})\.ndjson$/.exec(name) ?? [];
  return start === undefined || firstTs === undefined ? undefined : { name, start: Number(start), firstTs: Number(firstTs) };
}

async function segmentsOf(directory: string): Promise<Segment[]> {
  let names: string[];
  try {
    names = await readdir(directory);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
  return names.flatMap((name) => parseName(name) ?? []).sort((a, b) => a.start - b.start);
}

/** When the event of a line happened; 0 where it does not say. */
export function timeOf(line: string): number {
  return Number(/"ts":(\d{1,16})/.exec(line)?.[1] ?? 0);
}

/** Writes the events of one session. */
export interface EventWriter {
  /** Appends whole lines. One call at a time. */
  append(lines: Buffer): Promise<void>;
  close(): Promise<void>;
}

/**
 * Begins, or goes on, with the events of a session.
 *
 * @param maxBytes - the oldest files go when there is more.
 */
export function writeEvents(directory: string, maxBytes: number): EventWriter {
  let file: FileHandle | undefined;
  let fileBytes = 0;
  let next: number | undefined;

  async function end(): Promise<number> {
    const last = (await segmentsOf(directory)).at(-1);
    return last === undefined ? 0 : last.start + (await readFile(join(directory, last.name))).length;
  }

  async function roll(lines: Buffer): Promise<FileHandle> {
    await file?.close();
    file = undefined;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    next ??= await end();
    const lineEnd = lines.indexOf(10);
    file = await open(join(directory, `${String(next).padStart(16, "0")}-${String(timeOf(lines.toString("utf8", 0, lineEnd)))}.ndjson`), "a", 0o600);
    fileBytes = 0;
    for (const old of await segmentsOf(directory)) {
      if (next - old.start <= maxBytes) break;
      await rm(join(directory, old.name), { force: true });
    }
    return file;
  }

  return {
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
  // What has no line end yet is being written.
  for (let end = content.indexOf(10); end !== -1; end = content.indexOf(10, start)) {
    lines.push({ line: content.toString("utf8", start, end), start: segment.start + start, end: segment.start + end + 1 });
    start = end + 1;
  }
  return lines;
}

async function load(directory: string, segment: Segment): Promise<PlacedLine[]> {
  try {
    return linesOf(await readFile(join(directory, segment.name)), segment);
  } catch (error) {
    // It went meanwhile.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** Events from a place on, oldest first. @param from - a place, or the time in microseconds of the first one wanted. */
export async function* readForward(directory: string, from: { readonly place: number } | { readonly ts: number }): AsyncGenerator<PlacedLine, undefined> {
  const segments = await segmentsOf(directory);
  // Times never decrease, so all before the last file that begins earlier is too old.
  const isBefore = (segment: Segment) => ("place" in from ? segment.start <= from.place : segment.firstTs < from.ts);
  const first = Math.max(0, segments.findLastIndex(isBefore));
  for (const segment of segments.slice(first)) {
    for (const line of await load(directory, segment)) {
      if ("place" in from ? line.start >= from.place : timeOf(line.line) >= from.ts) yield line;
    }
  }
  return undefined;
}

/** Events before a place, newest first. */
export async function* readBackward(directory: string, place: number): AsyncGenerator<PlacedLine, undefined> {
  for (const segment of (await segmentsOf(directory)).reverse()) {
    if (segment.start >= place) continue;
    for (const line of (await load(directory, segment)).reverse()) if (line.end <= place) yield line;
  }
  return undefined;
}
