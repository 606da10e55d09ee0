import { createHash } from "node:crypto";
import fc from "fast-check";
import { buffer } from "node:stream/consumers";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { type KeysOfStream, openRange, openStream, SealBroken, sealStream } from "./sealed-stream.ts";

const digest = (text: string, salt: Uint8Array): Uint8Array => createHash("sha256").update(text).update(salt).digest();
const keyOf: KeysOfStream = (salt) => [digest("key", salt)];
const otherKeyOf: KeysOfStream = (salt) => [digest("other", salt)];

async function sealed(chunks: readonly Uint8Array[]): Promise<Buffer> {
  return buffer(sealStream(Readable.from(chunks), keyOf));
}

/** Cuts the bytes into chunks, which a store may return in any size. */
function cut(bytes: Buffer, chunkBytes: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += chunkBytes) chunks.push(bytes.subarray(start, start + chunkBytes));
  return chunks;
}

async function opened(bytes: Buffer, chunkBytes = 10_000, key = keyOf): Promise<Buffer> {
  return buffer(openStream(Readable.from(cut(bytes, chunkBytes)), key));
}

const segment = 64 * 1024;

it("decrypts a stream with any chunk sizes", async () => {
  const lengths = fc.oneof(
    fc.nat(300),
    fc.constantFrom(segment - 1, segment, segment + 1, 3 * segment, 3 * segment + 5),
  );
  await fc.assert(
    fc.asyncProperty(
      lengths,
      fc.integer({ min: 1, max: 200_000 }),
      fc.integer({ min: 500, max: 200_000 }),
      async (length, written, read) => {
        const content = Buffer.alloc(length, "content ");
        expect((await opened(await sealed(cut(content, written)), read)).equals(content)).toBe(true);
      },
    ),
    { numRuns: 60 },
  );
});

it("decrypts what earlier versions stored", async () => {
  const stored = "c2hvYWwBtI1KW9032/Klv3FowcxWaRwDT1jWCZEpdmT7TXt8StW7RxaH2PbvMbQW2XcYBNzTuNpjLFLRP/4zLg==";
  expect((await opened(Buffer.from(stored, "base64"))).toString()).toBe("kept since");
});

it("encrypts equal content differently", async () => {
  const content = Buffer.alloc(1000, "secret");
  const [first, second] = await Promise.all([sealed([content]), sealed([content])]);
  expect(first.equals(second)).toBe(false);
  expect(first.includes("secret")).toBe(false);
});

it("detects every change, every truncation, and another key", async () => {
  const content = Buffer.alloc(2 * segment + 100, "content ");
  const whole = await sealed([content]);
  const stored = segment + 16;
  for (const place of [0, 10, 40, 38 + stored + 3, whole.length - 1]) {
    const changed = Buffer.from(whole);
    changed.writeUInt8(changed.readUInt8(place) ^ 1, place);
    await expect(opened(changed)).rejects.toThrow(SealBroken);
  }
  for (const length of [0, 3, 38, 38 + stored, 38 + 2 * stored, whole.length - 1])
    await expect(opened(whole.subarray(0, length))).rejects.toThrow(SealBroken);
  const swapped = Buffer.concat([
    whole.subarray(0, 38),
    whole.subarray(38 + stored, 38 + 2 * stored),
    whole.subarray(38, 38 + stored),
    whole.subarray(38 + 2 * stored),
  ]);
  await expect(opened(swapped)).rejects.toThrow(SealBroken);
  await expect(opened(whole, 1000, otherKeyOf)).rejects.toThrow(SealBroken);
});

it("fails with its source, and closes it when it is not read to the end", async () => {
  const broken = Readable.from(
    (function* () {
      yield Buffer.alloc(100);
      throw new Error("cut off");
    })(),
  );
  await expect(buffer(sealStream(broken, keyOf))).rejects.toThrow("cut off");
  const source = Readable.from(cut(await sealed([Buffer.alloc(3 * segment)]), 5000));
  for await (const piece of openStream(source, keyOf)) {
    expect(piece.length).toBe(segment);
    break;
  }
  expect(source.destroyed).toBe(true);
});

const readerOf = (bytes: Buffer, reads: number[] = []) => {
  return (start: number, end: number) => {
    reads.push(end - start + 1);
    return Promise.resolve(Readable.from(cut(bytes.subarray(start, end + 1), 10_000)));
  };
};

it("decrypts any part, and reads only its segments", async () => {
  const lengths = fc.constantFrom(1, 300, segment - 1, segment, segment + 1, 3 * segment, 3 * segment + 5);
  await fc.assert(
    fc.asyncProperty(lengths, fc.nat(), fc.nat(), async (sizeBytes, one, other) => {
      const content = Buffer.alloc(sizeBytes, "content ");
      const [start = 0, end = 0] = [one % sizeBytes, other % sizeBytes].sort((a, b) => a - b);
      const reads: number[] = [];
      const part = openRange(readerOf(await sealed([content]), reads), { sizeBytes, start, end }, keyOf);
      expect((await buffer(part)).equals(content.subarray(start, end + 1))).toBe(true);
      expect(reads[1]).toBeLessThanOrEqual((Math.ceil((end - start + 1) / segment) + 1) * (segment + 16));
    }),
    { numRuns: 60 },
  );
});

it("rejects parts that were changed, truncated, extended or encrypted with another key", async () => {
  const sizeBytes = 2 * segment + 5;
  const range = { sizeBytes, start: 10, end: sizeBytes - 1 };
  const bytes = await sealed([Buffer.alloc(sizeBytes, "content ")]);
  const changed = Buffer.from(bytes);
  changed[segment + 100] = (changed[segment + 100] ?? 0) ^ 1;
  for (const wrong of [changed, bytes.subarray(0, -1), bytes.subarray(0, segment), Buffer.alloc(bytes.length)])
    await expect(buffer(openRange(readerOf(wrong), range, keyOf))).rejects.toThrow(SealBroken);
  await expect(buffer(openRange(readerOf(bytes), range, otherKeyOf))).rejects.toThrow(SealBroken);
  const endless = () => Promise.resolve(Readable.from([...cut(bytes, 10_000), ...cut(bytes, 10_000)]));
  const long = (start: number, end: number) => (start === 0 ? readerOf(bytes)(start, end) : endless());
  await expect(buffer(openRange(long, range, keyOf))).rejects.toThrow(SealBroken);
});

it("opens with an earlier key what it sealed, and seals with the first one", async () => {
  const content = Buffer.alloc(3 * segment + 5, "content ");
  const bytes = await sealed([content]);
  const changed: KeysOfStream = (salt) => [digest("other", salt), digest("third", salt), digest("key", salt)];
  expect((await opened(bytes, 10_000, changed)).equals(content)).toBe(true);
  const range = { sizeBytes: content.length, start: 2 * segment + 1, end: 3 * segment + 1 };
  const part = await buffer(openRange(readerOf(bytes), range, changed));
  expect(part.equals(content.subarray(range.start, range.end + 1))).toBe(true);
  const again = await buffer(sealStream(Readable.from([content]), changed));
  expect((await opened(again, 10_000, otherKeyOf)).equals(content)).toBe(true);
  await expect(opened(again, 10_000, keyOf)).rejects.toThrow(SealBroken);
  const damaged = Buffer.from(bytes);
  damaged.writeUInt8(damaged.readUInt8(bytes.length - 20) ^ 1, bytes.length - 20);
  await expect(opened(damaged, 10_000, changed)).rejects.toThrow(SealBroken);
});
