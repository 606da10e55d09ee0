import type { Readable } from "node:stream";

/** Joining larger chunks saves less than it costs. */
const smallBytes = 1024;
/** Small chunks, for each message: well above what streams of events need. Each costs the parser two microseconds. */
const burst = 10_000;
const perSecond = 20_000;

/**
 * Joins small chunks that arrive together, and reads a message or a connection of very many slowly: a sender of single
 * bytes would otherwise block the thread of its reader. Call it before the first bytes are read: for a message, when the
 * server or the client emits it.
 */
export function joinChunks(message: Readable): void {
  const push = message.push.bind(message);
  let waiting: Buffer[] = [];
  let bytes = 0;
  let left = burst;
  let atMs = performance.now();
  const flush = (): void => {
    if (bytes === 0) return;
    const joined = Buffer.concat(waiting, bytes);
    waiting = [];
    bytes = 0;
    if (!message.destroyed) push(joined);
  };
  const flushInTime = (): void => {
    const nowMs = performance.now();
    left = Math.min(burst, left + ((nowMs - atMs) / 1000) * perSecond) - waiting.length;
    atMs = nowMs;
    if (left >= 0) flush();
    else setTimeout(flush, (-left / perSecond) * 1000).unref();
  };
  // The parser calls it for each chunk of the bytes that it has. False stops the socket until the message is read.
  message.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (!Buffer.isBuffer(chunk) || chunk.length >= smallBytes) {
      flush();
      return push(chunk, encoding);
    }
    // Later than a tick: the parser of a server runs all ticks after each chunk.
    if (bytes === 0) setImmediate(flushInTime);
    waiting.push(chunk);
    bytes += chunk.length;
    return waiting.length < left && message.readableLength + bytes < message.readableHighWaterMark;
  };
}
