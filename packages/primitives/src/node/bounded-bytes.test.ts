import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { readAtMost } from "./bounded-bytes.ts";

const sourceOf = (...pieces: readonly string[]): Readable => Readable.from(pieces.map((piece) => Buffer.from(piece)));

it("reads a source of at most the limit", async () => {
  expect(String(await readAtMost(sourceOf("ab", "", "cde"), 5))).toBe("abcde");
  expect(await readAtMost(sourceOf(), 0)).toHaveLength(0);
});

it("closes a longer source, and returns nothing of it", async () => {
  const source = sourceOf("abc", "def", "ghi");
  expect(await readAtMost(source, 5)).toBeUndefined();
  expect(source.destroyed).toBe(true);
});

it("keeps no object for each piece, so that single bytes take the memory of their sum", async () => {
  const piece = new Uint8Array(1);
  function* single(): Generator<Uint8Array> {
    for (let count = 0; count < 200_000; count += 1) yield piece;
  }
  const bytes = await readAtMost(Readable.from(single()), 2 ** 20);
  expect(bytes).toHaveLength(200_000);
  expect(bytes?.buffer.byteLength).toBeLessThanOrEqual(2 ** 20);
});

it("passes the failure of a source on", async () => {
  const source = new Readable({ read: () => undefined });
  source.destroy(new Error("broken"));
  await expect(readAtMost(source, 5)).rejects.toThrow("broken");
});
