import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** Makes the key of one stream from its salt, 32 bytes. */
export type KeyOfStream = (salt: Uint8Array) => Uint8Array;

/** What is read was not sealed with this key, or was changed or cut off since. */
export class SealBroken extends Error {
  override readonly name = "SealBroken";
}

const magic = Buffer.from("shoal\u0001");
const saltBytes = 32;
const tagBytes = 16;
/** Each segment is whole or not at all: what was read of a stream is what was written, before its end is seen. */
const segmentBytes = 64 * 1024;

/** Its key is used for one stream, so a count will do. The last one is marked: a stream that was cut off is not one that ended. */
function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(index, 4);
  nonce.writeUInt8(isLast ? 1 : 0, 11);
  return nonce;
}

/** Cuts a stream into pieces of one size, the last of them shorter or empty, and says which is the last. */
async function* pieces(
  source: AsyncIterable<Uint8Array>,
  sizeBytes: number,
): AsyncGenerator<{ readonly piece: Buffer; readonly isLast: boolean }, void, undefined> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  for await (const chunk of source) {
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes <= sizeBytes) continue;
    const whole = Buffer.concat(held);
    let start = 0;
    // The last whole one is held back: it may be the last of all.
    for (; whole.length - start > sizeBytes; start += sizeBytes) yield { piece: whole.subarray(start, start + sizeBytes), isLast: false };
    held = [whole.subarray(start)];
    heldBytes = whole.length - start;
  }
  yield { piece: Buffer.concat(held), isLast: true };
}

/** Encrypts a stream (AES-256-GCM, a segment of 64 KiB at a time) with a key of its own. */
export async function* sealStream(source: AsyncIterable<Uint8Array>, keyOf: KeyOfStream): AsyncGenerator<Buffer, void, undefined> {
  const salt = randomBytes(saltBytes);
  const key = keyOf(salt);
  yield Buffer.concat([magic, salt]);
  let index = 0;
  for await (const { piece, isLast } of pieces(source, segmentBytes)) {
    const cipher = createCipheriv("aes-256-gcm", key, nonceOf(index, isLast), { authTagLength: tagBytes });
    yield Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()]);
    index += 1;
  }
}

/** What {@link sealStream} encrypted. @throws {SealBroken} at the first segment that is not as it was written, and where segments are missing. */
export async function* openStream(source: AsyncIterable<Uint8Array>, keyOf: KeyOfStream): AsyncGenerator<Buffer, void, undefined> {
  const head: Uint8Array[] = [];
  let headBytes = 0;
  const iterator = source[Symbol.asyncIterator]();
  try {
    while (headBytes < magic.length + saltBytes) {
      const next = await iterator.next();
      if (next.done === true) throw new SealBroken("The stored content has no beginning.");
      head.push(next.value);
      headBytes += next.value.length;
    }
    const start = Buffer.concat(head);
    if (!start.subarray(0, magic.length).equals(magic)) throw new SealBroken("The stored content was not sealed by this service.");
    const key = keyOf(start.subarray(magic.length, magic.length + saltBytes));
    let index = 0;
    for await (const { piece, isLast } of pieces(after(start.subarray(magic.length + saltBytes), iterator), segmentBytes + tagBytes)) {
      yield open(piece, key, nonceOf(index, isLast));
      index += 1;
    }
  } finally {
    await iterator.return?.();
  }
}

async function* after(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

function open(piece: Buffer, key: Uint8Array, nonce: Buffer): Buffer {
  if (piece.length < tagBytes) throw new SealBroken("The stored content was cut off.");
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes }).setAuthTag(piece.subarray(piece.length - tagBytes));
  try {
    return Buffer.concat([decipher.update(piece.subarray(0, piece.length - tagBytes)), decipher.final()]);
  } catch (error) {
    throw new SealBroken("The stored content was changed, cut off, or sealed with another secret.", { cause: error });
  }
}
