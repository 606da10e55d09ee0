/** Bytes before a message's content: tag 24 and a length of four bytes. */
export const envelopeHeaderBytes = 7;

export class CborError extends Error {
  override readonly name = "CborError";
}

const major = { unsigned: 0, negative: 1, bytes: 2, text: 3, tag: 6 } as const;
const initial = { list: 0x9f, map: 0xbf, false: 0xf4, true: 0xf5, null: 0xf6, float: 0xfb, stop: 0xff } as const;
/** "Encoded CBOR data item": readers can skip its content. */
const envelopeTag = 24;
/** "Expected conversion to base64": bytes that JSON encodes as base64. */
const base64Tag = 22;
const envelopeStart = [0xd8, envelopeTag, 0x5a] as const;
const largestInteger = 2 ** 31;
/** The browser nests 300 levels at most, each in an envelope. */
const maxDepth = 600;

/** Returns the length of the message at `offset`, header included. Needs {@link envelopeHeaderBytes} bytes. */
export function messageBytesAt(bytes: Buffer, offset: number): number {
  if (envelopeStart.some((byte, place) => bytes[offset + place] !== byte))
    throw new CborError("invalid start of a message");
  return bytes.readUInt32BE(offset + envelopeStart.length) + envelopeHeaderBytes;
}

/** `{"method":"…`, the start of an event. An event that starts differently must be decoded to learn its name. */
const methodKey = Buffer.from([initial.map, (major.text << 5) | 6, ...Buffer.from("method")]);

/** Returns an event's name without decoding the message; `undefined` for answers and events that start differently. */
export function eventNameOf(message: Buffer): string | undefined {
  const start = envelopeHeaderBytes + methodKey.length;
  for (let place = 0; place < methodKey.length; place++)
    if (message[envelopeHeaderBytes + place] !== methodKey[place]) return undefined;
  const head = message[start];
  if (head === undefined || head >> 5 !== major.text) return undefined;
  const short = head & 31;
  if (short > 24) return undefined;
  const from = short === 24 ? start + 2 : start + 1;
  return message.toString("latin1", from, from + (short === 24 ? (message[start + 1] ?? 0) : short));
}

/** Decodes a CDP message or another value. Bytes become base64, as in CDP's JSON. @throws {CborError} */
export function decodeCbor(bytes: Buffer): unknown {
  return new Decoder(bytes).value(0);
}

/** Field names are few and repeat: looking one up is much cheaper than decoding it. */
const names = new Map<number, string>();
const maxNames = 2_000;
const maxNameBytes = 40;

class Decoder {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  value(depth: number): unknown {
    if (depth > maxDepth) throw new CborError("nested too deeply");
    const head = this.#byte();
    switch (head >> 5) {
      case major.unsigned:
        return this.#number(head);
      case major.negative:
        return -1 - this.#number(head);
      case major.text:
        return this.#slice("utf8", this.#number(head));
      case major.bytes:
        return this.#slice("utf16le", this.#number(head));
      case major.tag:
        return this.#tagged(this.#number(head), depth);
      default:
    }
    switch (head) {
      case initial.map:
        return this.#map(depth);
      case initial.list:
        return this.#list(depth);
      case initial.true:
        return true;
      case initial.false:
        return false;
      case initial.null:
        return null;
      case initial.float:
        this.#need(8);
        return this.#bytes.readDoubleBE(this.#at - 8);
      default:
        throw new CborError(`unsupported initial byte 0x${head.toString(16)}`);
    }
  }

  #tagged(tag: number, depth: number): unknown {
    const head = this.#byte();
    if (head >> 5 !== major.bytes) throw new CborError("a tag without bytes");
    const length = this.#number(head);
    if (tag === base64Tag) return this.#slice("base64", length);
    if (tag !== envelopeTag) throw new CborError(`unsupported tag ${String(tag)}`);
    return this.value(depth + 1);
  }

  #map(depth: number): Record<string, unknown> {
    const found: Record<string, unknown> = {};
    while (this.#bytes[this.#at] !== initial.stop) {
      const name = this.#name();
      const value = this.value(depth + 1);
      // Like JSON.parse, which does not set the prototype either.
      if (name === "__proto__")
        Object.defineProperty(found, name, { value, enumerable: true, configurable: true, writable: true });
      else found[name] = value;
    }
    this.#at++;
    return found;
  }

  #list(depth: number): unknown[] {
    const found: unknown[] = [];
    while (this.#bytes[this.#at] !== initial.stop) found.push(this.value(depth + 1));
    this.#at++;
    return found;
  }

  #name(): string {
    const head = this.#byte();
    const length = this.#number(head);
    if (head >> 5 === major.bytes) return this.#slice("utf16le", length);
    if (head >> 5 !== major.text) throw new CborError("a name that is not text");
    if (length > maxNameBytes) return this.#slice("utf8", length);
    const start = this.#at;
    this.#need(length);
    let hash = length;
    for (let at = start; at < this.#at; at++) hash = (Math.imul(hash, 31) + (this.#bytes[at] ?? 0)) | 0;
    const known = names.get(hash);
    if (known !== undefined && this.#says(known, start)) return known;
    const name = this.#bytes.toString("utf8", start, this.#at);
    // Bounded, because header names come from pages.
    if (known === undefined && names.size < maxNames) names.set(hash, name);
    return name;
  }

  /** Compares the bytes since `start` with `text`. Never true for non-ASCII text. */
  #says(text: string, start: number): boolean {
    if (text.length !== this.#at - start) return false;
    for (let place = 0; place < text.length; place++)
      if (text.charCodeAt(place) !== this.#bytes[start + place]) return false;
    return true;
  }

  #slice(encoding: "utf8" | "utf16le" | "base64", length: number): string {
    this.#need(length);
    return this.#bytes.toString(encoding, this.#at - length, this.#at);
  }

  #number(head: number): number {
    const short = head & 31;
    if (short < 24) return short;
    if (short === 24) return this.#byte();
    if (short === 25) {
      this.#need(2);
      return this.#bytes.readUInt16BE(this.#at - 2);
    }
    if (short === 26) {
      this.#need(4);
      return this.#bytes.readUInt32BE(this.#at - 4);
    }
    if (short !== 27) throw new CborError("invalid length");
    this.#need(8);
    return Number(this.#bytes.readBigUInt64BE(this.#at - 8));
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new CborError("unexpected end");
    return byte;
  }

  #need(length: number): void {
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new CborError("unexpected end");
  }
}

/** JSON values, without fields that are `undefined`. */
export function encodeCbor(message: object): Buffer {
  const parts: Buffer[] = [];
  encode(message, parts);
  return Buffer.concat(parts);
}

function encode(value: unknown, parts: Buffer[]): void {
  if (typeof value === "string") encodeText(value, parts);
  else if (typeof value === "number") parts.push(numberBytes(value));
  else if (typeof value === "boolean") parts.push(Buffer.from([value ? initial.true : initial.false]));
  else if (typeof value === "object" && value !== null) encodeEnvelope(value, parts);
  else parts.push(Buffer.from([initial.null]));
}

function encodeEnvelope(value: object, parts: Buffer[]): void {
  const header = Buffer.from([...envelopeStart, 0, 0, 0, 0, Array.isArray(value) ? initial.list : initial.map]);
  const first = parts.push(header);
  if (Array.isArray(value)) for (const item of value) encode(item, parts);
  else
    for (const [name, item] of Object.entries(value)) {
      if (item === undefined) continue;
      encodeText(name, parts);
      encode(item, parts);
    }
  parts.push(Buffer.from([initial.stop]));
  let length = 1;
  for (let part = first; part < parts.length; part++) length += parts[part]?.length ?? 0;
  header.writeUInt32BE(length, envelopeStart.length);
}

function encodeText(text: string, parts: Buffer[]): void {
  // A lone surrogate has no UTF-8 encoding.
  const isWhole = text.isWellFormed();
  const bytes = Buffer.from(text, isWhole ? "utf8" : "utf16le");
  parts.push(headBytes(isWhole ? major.text : major.bytes, bytes.length), bytes);
}

function headBytes(kind: number, count: number): Buffer {
  if (count < 24) return Buffer.from([(kind << 5) | count]);
  if (count <= 0xff) return Buffer.from([(kind << 5) | 24, count]);
  if (count <= 0xffff) return Buffer.from([(kind << 5) | 25, count >> 8, count & 0xff]);
  const head = Buffer.from([(kind << 5) | 26, 0, 0, 0, 0]);
  head.writeUInt32BE(count, 1);
  return head;
}

function numberBytes(value: number): Buffer {
  if (Number.isInteger(value) && !Object.is(value, -0) && value >= -largestInteger && value < largestInteger)
    return value < 0 ? headBytes(major.negative, -1 - value) : headBytes(major.unsigned, value);
  const bytes = Buffer.alloc(9, initial.float);
  bytes.writeDoubleBE(value, 1);
  return bytes;
}
