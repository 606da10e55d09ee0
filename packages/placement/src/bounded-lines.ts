import type { Readable } from "node:stream";

/** One line, without its end. `cut` when it was longer than the limit and only its beginning is here. */
export type OnLine = (line: string, cut: boolean) => void;

/** Calls `onLine` for each line of a stream, of which it never keeps more than `maxBytes`: what comes out of a box may be one endless line. */
export function readBoundedLines(stream: Readable, maxBytes: number, onLine: OnLine): void {
  let parts: Buffer[] = [];
  let length = 0;
  let cut = false;

  function add(bytes: Buffer): void {
    const room = maxBytes - length;
    if (bytes.length > room) cut = true;
    if (room <= 0 || bytes.length === 0) return;
    // A copy, or the whole chunk would stay in memory for one short line.
    const kept = Buffer.from(bytes.subarray(0, room));
    parts.push(kept);
    length += kept.length;
  }
  function finish(): void {
    const line = Buffer.concat(parts).toString("utf8");
    const wasCut = cut;
    parts = [];
    length = 0;
    cut = false;
    onLine(line, wasCut);
  }

  stream.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      add(chunk.subarray(start, end));
      finish();
      start = end + 1;
    }
    add(chunk.subarray(start));
  });
  stream.on("end", () => {
    if (length > 0) finish();
  });
  stream.on("error", () => undefined);
}
