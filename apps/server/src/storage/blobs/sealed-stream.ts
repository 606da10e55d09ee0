import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";

/** The first key seals a new stream. Each of them may open an older one. */
export type StreamKeys = readonly [Uint8Array, ...Uint8Array[]];

export type KeysOfStream = (salt: Uint8Array) => StreamKeys;

/** The key is wrong, or the content was changed or truncated. */
export class SealBroken extends Error {
  override readonly name = "SealBroken";
}

const magic = Buffer.from("shoal\u0001");
const saltBytes = 32;
const tagBytes = 16;
/** Each segment is authenticated separately: a reader gets verified data before the end of the stream. */
const segmentBytes = 64 * 1024;

/**
 * A counter suffices as nonce, since each key encrypts one stream. The last segment is marked, to detect truncation.
 */
function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(index, 4);
  nonce.writeUInt8(isLast ? 1 : 0, 11);
  return nonce;
}

/**
 * Cuts a stream into pieces of equal size and marks the last one, which may be shorter or empty. Each piece is valid until
 * the next one: allocating them again would make the garbage collector the largest cost of a large stream.
 */
async function* pieces(
  source: AsyncIterable<Uint8Array>,
  sizeBytes: number,
): AsyncGenerator<{ readonly piece: Uint8Array; readonly isLast: boolean }, void, undefined> {
  const held = Buffer.allocUnsafe(sizeBytes);
  let heldBytes = 0;
  for await (const chunk of source) {
    let at = 0;
    // Keep the last full piece: it may be the end of the stream.
    while (heldBytes + chunk.length - at > sizeBytes) {
      const end = at + sizeBytes - heldBytes;
      if (heldBytes > 0) held.set(chunk.subarray(at, end), heldBytes);
      yield { piece: heldBytes > 0 ? held : chunk.subarray(at, end), isLast: false };
      heldBytes = 0;
      at = end;
    }
    held.set(chunk.subarray(at), heldBytes);
    heldBytes += chunk.length - at;
  }
  yield { piece: held.subarray(0, heldBytes), isLast: true };
}

/** Encrypts a stream with its own key (AES-256-GCM, segments of 64 KiB). */
export async function* sealStream(
  source: AsyncIterable<Uint8Array>,
  keysOf: KeysOfStream,
): AsyncGenerator<Buffer, void, undefined> {
  const salt = randomBytes(saltBytes);
  const [present] = keysOf(salt);
  const key = createSecretKey(present);
  yield Buffer.concat([magic, salt]);
  let index = 0;
  for await (const { piece, isLast } of pieces(source, segmentBytes)) {
    const cipher = createCipheriv("aes-256-gcm", key, nonceOf(index, isLast), { authTagLength: tagBytes });
    if (piece.length > 0) yield cipher.update(piece);
    // Empty in this mode, and required before the tag.
    cipher.final();
    yield cipher.getAuthTag();
    index += 1;
  }
}

/** Decrypts a stream of {@link sealStream}. @throws {SealBroken} at the first changed or missing segment. */
export async function* openStream(
  source: AsyncIterable<Uint8Array>,
  keysOf: KeysOfStream,
): AsyncGenerator<Buffer, void, undefined> {
  const head: Uint8Array[] = [];
  let headBytes = 0;
  const iterator = source[Symbol.asyncIterator]();
  try {
    while (headBytes < magic.length + saltBytes) {
      const next = await iterator.next();
      if (next.done === true) throw new SealBroken("The stored content is empty or truncated.");
      head.push(next.value);
      headBytes += next.value.length;
    }
    const start = Buffer.concat(head);
    if (!start.subarray(0, magic.length).equals(magic))
      throw new SealBroken("The stored content was not encrypted by this service.");
    const open = opener(keysOf(start.subarray(magic.length, magic.length + saltBytes)));
    let index = 0;
    for await (const { piece, isLast } of pieces(
      after(start.subarray(magic.length + saltBytes), iterator),
      segmentBytes + tagBytes,
    )) {
      yield open(piece, nonceOf(index, isLast));
      index += 1;
    }
  } finally {
    await iterator.return?.();
  }
}

export interface SealedRange {
  /** Of the content before sealing. */
  readonly sizeBytes: number;
  /** Inclusive, inside the content. */
  readonly start: number;
  readonly end: number;
}

/**
 * Decrypts a part of a sealed stream and reads only the segments of that part.
 * @param read - reads sealed bytes, both offsets inclusive. @throws {SealBroken} at the first changed or missing segment.
 */
export async function* openRange(
  read: (start: number, end: number) => Promise<Readable>,
  { end, sizeBytes, start }: SealedRange,
  keysOf: KeysOfStream,
): AsyncGenerator<Buffer, void, undefined> {
  const segments = Math.max(1, Math.ceil(sizeBytes / segmentBytes));
  const headBytes = magic.length + saltBytes;
  const [first, last] = [Math.floor(start / segmentBytes), Math.floor(end / segmentBytes)];
  const head = await buffer(await read(0, headBytes - 1));
  if (!head.subarray(0, magic.length).equals(magic))
    throw new SealBroken("The stored content was not encrypted by this service.");
  const open = opener(keysOf(head.subarray(magic.length, headBytes)));
  const sealedBytes = headBytes + sizeBytes + segments * tagBytes;
  const sealedEnd = Math.min(headBytes + (last + 1) * (segmentBytes + tagBytes), sealedBytes) - 1;
  const sealed = await read(headBytes + first * (segmentBytes + tagBytes), sealedEnd);
  let index = first;
  for await (const { piece } of pieces(sealed as AsyncIterable<Buffer>, segmentBytes + tagBytes)) {
    if (index > last) throw new SealBroken("The stored content is longer than expected.");
    const content = open(piece, nonceOf(index, index === segments - 1));
    yield content.subarray(
      index === first ? start - first * segmentBytes : 0,
      index === last ? end + 1 - last * segmentBytes : undefined,
    );
    index += 1;
  }
  if (index <= last) throw new SealBroken("The stored content is truncated.");
}

async function* after(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

/** Opens segments of one stream, with the key that opens the first one. */
function opener(keys: StreamKeys): (piece: Uint8Array, nonce: Buffer) => Buffer {
  let possible = keys.map((key) => createSecretKey(key));
  return (piece, nonce) => {
    const failures: unknown[] = [];
    for (const key of possible) {
      try {
        const content = openSegment(piece, key, nonce);
        possible = [key];
        return content;
      } catch (error) {
        failures.push(error);
      }
    }
    throw failures[0];
  };
}

function openSegment(piece: Uint8Array, key: KeyObject, nonce: Buffer): Buffer {
  if (piece.length < tagBytes) throw new SealBroken("The stored content is truncated.");
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes }).setAuthTag(
    piece.subarray(piece.length - tagBytes),
  );
  try {
    const content = decipher.update(piece.subarray(0, piece.length - tagBytes));
    // Empty in this mode; throws when the tag does not match.
    decipher.final();
    return content;
  } catch (error) {
    throw new SealBroken("The stored content was changed, truncated, or encrypted with another secret.", {
      cause: error,
    });
  }
}
