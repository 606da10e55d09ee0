import { hasCode } from "@shoal/primitives";
import { notAFile } from "@shoal/contract/refusals";
import { ServiceError, type StreamFrame } from "@shoal/router";
import type { LogEvent } from "@shoal/schemas";
import { constants, type Stats } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { orServiceError } from "../fs/errors.ts";
import { fileKind } from "../fs/file-info.ts";
import { hostPath, type SessionRoot } from "../fs/paths.ts";

const action = "follow";
const chunkBytes = 64 * 1024;
const maxLineBytes = 64 * 1024;
const pollMs = 200;
const newline = 0x0a;

export interface FileLogOptions {
  readonly path: string;
  readonly follow: boolean;
  /** Ignored when the file was replaced: then all of the new file follows. */
  readonly lastEventId: string | undefined;
}

/** Follows truncation and replacement of the file. Without `follow`, also sends an incomplete last line. */
export async function readFileLog(
  root: SessionRoot,
  options: FileLogOptions,
): Promise<AsyncIterableIterator<StreamFrame<LogEvent>, undefined>> {
  const file = await openFile(root, options.path);
  const stopped = new AbortController();
  const lines = followFile(root, options, file, stopped.signal);
  let began = false;
  const reader: AsyncIterableIterator<StreamFrame<LogEvent>, undefined> = {
    [Symbol.asyncIterator]: () => reader,
    next() {
      began = true;
      return lines.next();
    },
    // `return` of a generator would wait for its pending `next`.
    async return() {
      stopped.abort();
      if (!began) await file.handle.close();
      await lines.return(undefined);
      return { done: true, value: undefined };
    },
  };
  return reader;
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly stats: Stats;
}

async function openFile(root: SessionRoot, path: string): Promise<OpenFile> {
  return orServiceError(action, path, async () => {
    const place = await hostPath(root, path, { follow: true, action });
    // Checked before opening, because opening a pipe may block.
    refuseOthers(path, await stat(place));
    const handle = await open(place, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await handle.stat();
    if (stats.isFile()) return { handle, stats };
    await handle.close();
    throw ServiceError.of(notAFile(action, path, fileKind(stats)));
  });
}

function refuseOthers(path: string, stats: Stats): void {
  if (!stats.isFile()) throw ServiceError.of(notAFile(action, path, fileKind(stats)));
}

async function* followFile(
  root: SessionRoot,
  { path, follow, lastEventId }: FileLogOptions,
  first: OpenFile,
  stopped: AbortSignal,
): AsyncGenerator<StreamFrame<LogEvent>, undefined> {
  let file = first;
  try {
    let offset = startOf(lastEventId, file.stats);
    // Generated files, as in /proc, have size 0; that is not a truncation.
    let hasSize = file.stats.size > 0;
    const end = follow || !hasSize ? Infinity : file.stats.size;
    let cutter = createLineCutter(offset);
    let isCaughtUp = false;
    let id = idOf(file.stats, offset);
    for (;;) {
      const { buffer, bytesRead } = await file.handle.read(
        Buffer.allocUnsafe(chunkBytes),
        0,
        Math.min(chunkBytes, end - offset),
        offset,
      );
      if (bytesRead > 0) {
        offset += bytesRead;
        const stats = await file.handle.stat();
        for (const line of cutter.push(buffer.subarray(0, bytesRead))) {
          const frame = frameOf(line, stats);
          ({ id } = frame);
          yield frame;
        }
        if (stopped.aborted) return undefined;
        continue;
      }
      if (!follow || stopped.aborted) {
        if (!stopped.aborted) for (const line of cutter.flush()) yield frameOf(line, file.stats);
        return undefined;
      }
      const stats = await file.handle.stat();
      hasSize ||= stats.size > 0;
      if (hasSize && stats.size < offset) {
        // The incomplete line was truncated too.
        offset = 0;
        cutter = createLineCutter(0);
        continue;
      }
      const other = await replacementOf(root, path, file);
      if (other !== undefined) {
        // Written between the last read and the check of the name.
        if (stats.size < (await file.handle.stat()).size) {
          await other.handle.close();
          continue;
        }
        for (const line of cutter.flush()) yield frameOf(line, stats);
        await file.handle.close();
        file = other;
        offset = 0;
        hasSize = other.stats.size > 0;
        cutter = createLineCutter(0);
        continue;
      }
      if (!isCaughtUp) yield { id, caughtUp: true };
      isCaughtUp = true;
      await delay(pollMs, undefined, { signal: stopped }).catch(() => undefined);
    }
  } finally {
    await file.handle.close();
  }
}

async function replacementOf(root: SessionRoot, path: string, file: OpenFile): Promise<OpenFile | undefined> {
  try {
    const place = await hostPath(root, path, { follow: true, action });
    const stats = await stat(place);
    if (!stats.isFile() || (stats.ino === file.stats.ino && stats.dev === file.stats.dev)) return undefined;
    return await openFile(root, path);
  } catch (error) {
    // Between two steps of a rotation the file does not exist.
    if (hasCode(error, "ENOENT") || isNotFound(error)) return undefined;
    throw error;
  }
}

function isNotFound(error: unknown): boolean {
  return typeof error === "object" && error !== null && "status" in error && error.status === 404;
}

function startOf(lastEventId: string | undefined, stats: Stats): number {
  const [, inode, offset] = /^(\d{1,20})-(\d{1,15})$/.exec(lastEventId ?? "") ?? [];
  return Number(inode) === stats.ino && Number(offset) <= stats.size ? Number(offset) : 0;
}

interface Line {
  readonly text: string;
  readonly endOffset: number;
}

/** The file is part of the position, since the path may lead to another file later. */
function idOf({ ino }: Stats, offset: number): string {
  return `${String(ino)}-${String(offset)}`;
}

function frameOf({ text, endOffset }: Line, stats: Stats): StreamFrame<LogEvent> {
  return {
    id: idOf(stats, endOffset),
    data: { event: "log", message: text, timestamp: stats.mtime.toISOString() },
  };
}

function createLineCutter(startOffset: number): { push(chunk: Buffer): Line[]; flush(): Line[] } {
  let held = Buffer.alloc(0);
  let offset = startOffset;
  function take(bytes: Buffer, endBytes: number): Line {
    offset += bytes.length + endBytes;
    const isReturn = endBytes > 0 && bytes.at(-1) === 0x0d;
    return { text: bytes.toString("utf8", 0, bytes.length - (isReturn ? 1 : 0)), endOffset: offset };
  }
  return {
    push(chunk) {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const lines: Line[] = [];
      let at = 0;
      for (;;) {
        const end = bytes.indexOf(newline, at);
        const stop = end === -1 ? bytes.length : end;
        if (stop - at > maxLineBytes) {
          lines.push(take(bytes.subarray(at, at + maxLineBytes), 0));
          at += maxLineBytes;
        } else if (end === -1) break;
        else {
          lines.push(take(bytes.subarray(at, end), 1));
          at = end + 1;
        }
      }
      held = Buffer.from(bytes.subarray(at));
      return lines;
    },
    flush() {
      const rest = held;
      held = Buffer.alloc(0);
      return rest.length === 0 ? [] : [take(rest, 0)];
    },
  };
}
