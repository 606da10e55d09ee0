import { Pace } from "@shoal/placement";
import type { Readable } from "node:stream";

/** Bytes in UTF-8; the rest of a longer line is dropped. */
export const maxLineBytes = 64 * 1024;
/** Bytes, above 100,000 lines per second. A faster program waits. */
const rate = { burst: 32 * 2 ** 20, perSecond: 16 * 2 ** 20 };
const lineCostBytes = 64;

/** Calls `onLine` for each line of the output of a box. Resolves at its end. */
export function followLines(stream: Readable, onLine: (text: string) => void): Promise<void> {
  const pace = new Pace(rate);
  const line = new HeldLine(onLine);
  stream.on("data", (chunk: Buffer) => {
    let cost = chunk.length;
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      cost += lineCostBytes;
      line.add(chunk.subarray(start, end));
      line.end();
      start = end + 1;
    }
    line.add(chunk.subarray(start));
    const waitMs = pace.spend(cost);
    if (waitMs === 0) return;
    stream.pause();
    setTimeout(() => stream.resume(), waitMs);
  });
  return new Promise((resolve) => {
    stream.on("error", () => undefined);
    stream.once("end", () => {
      if (line.hasText) line.end();
    });
    stream.once("close", resolve);
  });
}

class HeldLine {
  readonly #onLine: (text: string) => void;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(onLine: (text: string) => void) {
    this.#onLine = onLine;
  }

  get hasText(): boolean {
    return this.#bytes > 0;
  }

  add(bytes: Buffer): void {
    const part = bytes.subarray(0, maxLineBytes - this.#bytes);
    if (part.length === 0) return;
    this.#parts.push(part);
    this.#bytes += part.length;
  }

  end(): void {
    const [first] = this.#parts;
    const bytes = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    this.#onLine(textOf(bytes));
  }
}

/** Without a carriage return at the end. PostgreSQL cannot store NUL, and invalid bytes become longer. */
function textOf(bytes: Buffer): string {
  const end = bytes.at(-1) === 13 ? bytes.length - 1 : bytes.length;
  let text = bytes.toString("utf8", 0, end);
  if (bytes.includes(0)) text = text.replaceAll("\0", "\uFFFD");
  while (Buffer.byteLength(text) > maxLineBytes) text = text.slice(0, Math.floor((text.length * 2) / 3));
  return text.toWellFormed();
}
