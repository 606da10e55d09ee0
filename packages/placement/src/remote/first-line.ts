import { once } from "node:events";
import type { Readable } from "node:stream";

/**
 * Reads one line, and leaves the bytes after it to the next reader.
 * @throws if the stream ends before it, or the line is longer.
 */
export async function firstLine(stream: Readable, maxBytes: number): Promise<string> {
  let read = Buffer.alloc(0);
  for (;;) {
    const chunk = stream.read() as Buffer | null;
    if (chunk === null) {
      if (stream.readableEnded || stream.destroyed) throw new Error("the stream ended");
      await Promise.race([once(stream, "readable"), once(stream, "end"), once(stream, "close")]);
      continue;
    }
    read = Buffer.concat([read, chunk]);
    const end = read.indexOf(10);
    if (end > maxBytes || (end < 0 && read.length > maxBytes)) throw new Error("the line is too long");
    if (end < 0) continue;
    if (end + 1 < read.length) stream.unshift(read.subarray(end + 1));
    return read.subarray(0, end).toString("utf8");
  }
}
