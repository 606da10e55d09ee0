import type { Readable } from "node:stream";
import { BoundedBytes } from "@shoal/primitives/node";
import { Pace } from "./pace.ts";

/** `cut`: the beginning of a line above the limit; the rest is dropped. */
export type OnLine = (line: string, cut: boolean) => void;

/** Bytes, well above the needs of instances. Each line costs extra. */
const rate = { burst: 4 * 2 ** 20, perSecond: 2 ** 20 };
const lineCostBytes = 64;

/** Buffers at most `maxBytes` of a line. Reads an endless stream slowly, so that it cannot block the main thread. */
export function readBoundedLines(stream: Readable, maxBytes: number, onLine: OnLine): void {
  const line = new BoundedBytes(maxBytes);
  const pace = new Pace(rate);
  let dropping = false;

  function finish(cut: boolean): void {
    onLine(line.take().toString("utf8"), cut);
  }
  function add(bytes: Buffer): void {
    if (dropping || line.append(bytes)) return;
    dropping = true;
    finish(true);
  }

  stream.on("data", (chunk: Buffer) => {
    let cost = chunk.length;
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      cost += lineCostBytes;
      add(chunk.subarray(start, end));
      if (!dropping) finish(false);
      dropping = false;
      start = end + 1;
    }
    add(chunk.subarray(start));
    const waitMs = pace.spend(cost);
    if (waitMs === 0) return;
    stream.pause();
    setTimeout(() => stream.resume(), waitMs).unref();
  });
  stream.on("end", () => {
    if (line.length > 0) finish(false);
  });
  stream.on("error", () => undefined);
}
