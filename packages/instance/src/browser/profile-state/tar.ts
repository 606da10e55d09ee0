const blockBytes = 512;
const maxTextBytes = 64 * 1024;
/** Extended headers in a row: one of each kind, with room for duplicates. */
const maxDescriptions = 8;

export interface TarHeader {
  readonly name: string;
  readonly sizeBytes: number;
  readonly modifiedAtSeconds: number;
}

/** Read the content to the end before the next entry. */
export interface TarEntry extends TarHeader {
  readonly kind: "file" | "directory" | "other";
  readonly content: AsyncIterable<Buffer>;
}

export class BadTar extends Error {
  override readonly name = "BadTar";
}

function octal(value: number, length: number): string {
  return `${value.toString(8).padStart(length - 1, "0")}\0`;
}

function block(name: string, { sizeBytes, modifiedAtSeconds }: TarHeader, type: string): Buffer {
  const header = Buffer.alloc(blockBytes);
  header.write(name, 0, 100, "utf8");
  header.write(octal(0o600, 8) + octal(0, 8) + octal(0, 8), 100, "latin1");
  header.write(
    octal(Math.min(sizeBytes, 0o77777777777), 12) + octal(Math.max(0, Math.floor(modifiedAtSeconds)), 12),
    124,
    "latin1",
  );
  header.write(`        ${type}`, 148, "latin1");
  header.write("ustar\u000000", 257, "latin1");
  header.write(`${octal(checksum(header), 7)} `, 148, "latin1");
  return header;
}

function checksum(header: Buffer): number {
  let sum = 0;
  for (let index = 0; index < blockBytes; index += 1) sum += index >= 148 && index < 156 ? 32 : header.readUInt8(index);
  return sum;
}

/** `25 path=Default/Cookies\n`: the length includes itself. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  let length = bytes + String(bytes).length;
  length = bytes + String(length).length;
  return `${String(length)}${rest}`;
}

export function tarPadding(sizeBytes: number): Buffer {
  return Buffer.alloc((blockBytes - (sizeBytes % blockBytes)) % blockBytes);
}

/** Exactly `sizeBytes` bytes of content and {@link tarPadding} must follow. */
export function tarHeader(header: TarHeader): Buffer {
  const { name, sizeBytes } = header;
  const extended =
    (Buffer.byteLength(name) > 100 || !/^[\x20-\x7e]*$/.test(name) ? paxRecord("path", name) : "") +
    (sizeBytes > 0o77777777777 ? paxRecord("size", String(sizeBytes)) : "");
  if (extended === "") return block(name, header, "0");
  const text = Buffer.from(extended);
  return Buffer.concat([
    block("PaxHeader", { ...header, sizeBytes: text.length }, "x"),
    text,
    tarPadding(text.length),
    block(name, header, "0"),
  ]);
}

export const tarEnd = Buffer.alloc(2 * blockBytes);

class Pieces {
  readonly #source: AsyncIterator<Uint8Array>;
  #held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterator<Uint8Array>) {
    this.#source = source;
  }

  /** Returns 1 to `most` bytes; `undefined` at the end. */
  async some(most: number): Promise<Buffer | undefined> {
    while (this.#held.length === 0) {
      const next = await this.#source.next();
      if (next.done === true) return undefined;
      this.#held = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
    }
    const piece = this.#held.subarray(0, most);
    this.#held = this.#held.subarray(piece.length);
    return piece;
  }

  async *exactly(length: number): AsyncGenerator<Buffer, void, undefined> {
    for (let left = length; left > 0;) {
      const piece = await this.some(left);
      if (piece === undefined) throw new BadTar("The archive was cut off.");
      left -= piece.length;
      yield piece;
    }
  }

  async whole(length: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.exactly(length)) pieces.push(piece);
    return Buffer.concat(pieces);
  }
}

function textAt(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end === -1 ? length : end);
}

function numberAt(header: Buffer, at: number, length: number): number {
  // GNU tar writes numbers that are too large for octal digits in binary.
  if (header.readUInt8(at) === 0x80) return Number(header.readBigUInt64BE(at + length - 8));
  const text = textAt(header, at, length).trim();
  const value = text === "" ? 0 : Number.parseInt(text, 8);
  if (!Number.isSafeInteger(value) || value < 0) throw new BadTar("A header of the archive is damaged.");
  return value;
}

function readPax(text: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < text.length;) {
    const space = text.indexOf(" ", at);
    const length = Number(text.toString("latin1", at, space));
    const equals = text.indexOf("=", space);
    if (space === -1 || equals === -1 || !Number.isInteger(length) || length <= 0 || at + length > text.length)
      throw new BadTar("A header of the archive is damaged.");
    records.set(text.toString("utf8", space + 1, equals), text.toString("utf8", equals + 1, at + length - 1));
    at += length;
  }
  return records;
}

export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  const pieces = new Pieces(iterator);
  let pax = new Map<string, string>();
  let longName: string | undefined;
  let descriptions = 0;
  try {
    for (;;) {
      const header = await pieces.whole(blockBytes);
      if (header.every((byte) => byte === 0)) break;
      if (numberAt(header, 148, 8) !== checksum(header)) throw new BadTar("A header of the archive is damaged.");
      const type = header.toString("latin1", 156, 157);
      const sizeBytes = Number(pax.get("size") ?? numberAt(header, 124, 12));
      if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) throw new BadTar("A header of the archive is damaged.");
      if (type === "x" || type === "g" || type === "L" || type === "K") {
        // An endless archive of extended headers would never yield an entry.
        descriptions += 1;
        if (descriptions > maxDescriptions)
          throw new BadTar(`The archive describes one file more than ${String(maxDescriptions)} times.`);
        if (sizeBytes > maxTextBytes) throw new BadTar("A header of the archive is longer than it may be.");
        const text = await pieces.whole(sizeBytes);
        await pieces.whole(tarPadding(sizeBytes).length);
        if (type === "x") pax = readPax(text);
        if (type === "L") longName = textAt(text, 0, text.length);
        continue;
      }
      const prefix = header.toString("latin1", 257, 263) === "ustar\0" ? textAt(header, 345, 155) : "";
      const ownName = textAt(header, 0, 100);
      const name = pax.get("path") ?? longName ?? (prefix === "" ? ownName : `${prefix}/${ownName}`);
      const kind = type === "0" || type === "\0" || type === "7" ? "file" : type === "5" ? "directory" : "other";
      pax = new Map();
      longName = undefined;
      descriptions = 0;
      const content = pieces.exactly(sizeBytes);
      yield { name, sizeBytes, modifiedAtSeconds: numberAt(header, 136, 12), kind, content };
      // Skip content that the caller did not read.
      for await (const _piece of content);
      await pieces.whole(tarPadding(sizeBytes).length);
    }
    // Read to the end of the stream, so that decompression detects a truncated archive.
    while ((await pieces.some(blockBytes)) !== undefined);
  } finally {
    await iterator.return?.();
  }
}
