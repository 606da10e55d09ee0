import type { Readable } from "node:stream";

/** One line, without its end. `cut` when it is longer than the limit: this is its beginning, and the rest is dropped. */
export type OnLine = (line: string, cut: boolean) => void;

/** Calls `onLine` for each line of a stream, of which it never keeps more than `maxBytes`: what comes out of a box may be one endless line. */
export function readBoundedLines(stream: Readable, maxBytes: number, onLine: OnLine): void {
  let parts: Buffer[] = [];
  let length = 0;
  let dropping = false;

  function finish(cut: boolean): void {
    const line = Buffer.concat(parts).toString("utf8");
    parts = [];
    length = 0;
    onLine(line, cut);
  }
  function add(bytes: Buffer): void {
    if (dropping || bytes.length === 0) return;
    // A copy, or the whole chunk would stay in memory for one short line.
    const kept = Buffer.from(bytes.subarray(0, maxBytes - length));
    parts.push(kept);
    length += kept.length;
    if (kept.length === bytes.length) return;
    dropping = true;
    finish(true);
  }

  stream.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      add(chunk.subarray(start, end));
      if (!dropping) finish(false);
      dropping = false;
      start = end + 1;
    }
    add(chunk.subarray(start));
  });
  stream.on("end", () => {
    if (length > 0) finish(false);
  });
  stream.on("error", () => undefined);
}
