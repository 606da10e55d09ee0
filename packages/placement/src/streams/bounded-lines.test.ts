import { eventuallyPasses } from "@shoal/testkit";
import { readBoundedLines } from "./bounded-lines.ts";
import fc from "fast-check";
import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";

async function read(chunks: readonly Buffer[], maxBytes: number): Promise<[string, boolean][]> {
  const stream = new PassThrough();
  const lines: [string, boolean][] = [];
  readBoundedLines(stream, maxBytes, (line, cut) => lines.push([line, cut]));
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await once(stream, "end");
  return lines;
}

it("finds the same lines for any division into chunks", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", "")),
        { minLength: 1 },
      ),
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
      async (lines, sizes) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
        const chunks: Buffer[] = [];
        for (let start = 0; start < bytes.length;) {
          const end = start + (sizes[chunks.length % sizes.length] ?? 1);
          chunks.push(bytes.subarray(start, end));
          start = end;
        }
        expect(await read(chunks, 10_000)).toEqual(lines.map((line) => [line, false]));
      },
    ),
  );
});

it("reports the beginning of an overlong line at once, and continues with the next line", async () => {
  const stream = new PassThrough();
  const lines: [string, boolean][] = [];
  readBoundedLines(stream, 4, (line, cut) => lines.push([line, cut]));
  stream.write("123456");
  await eventuallyPasses(() => {
    expect(lines).toEqual([["1234", true]]);
  });
  stream.end("789\nnext\n\nlast");
  await once(stream, "end");
  expect(lines).toEqual([
    ["1234", true],
    ["next", false],
    ["", false],
    ["last", false],
  ]);
});

it("reads a stream of empty lines slowly, so that it does not block the main thread", async () => {
  const stream = new Readable({
    read() {
      this.push(Buffer.alloc(65_536, "\n"));
    },
  });
  let lines = 0;
  const beganMs = performance.now();
  readBoundedLines(stream, 100, () => {
    lines += 1;
  });
  for (let turn = 0; turn < 1000; turn += 1) await nextTurn();
  // Each turn offers 65,536 lines. A burst is allowed, and then 16 lines in a millisecond.
  expect(lines).toBeLessThan(200_000 + 20 * (performance.now() - beganMs));
  stream.destroy();
});

it("collects a line from any number of chunks", async () => {
  const bytes = Buffer.from(`${"ü".repeat(5000)}\n`);
  expect(
    await read(
      [...bytes].map((byte) => Buffer.from([byte])),
      10_000,
    ),
  ).toEqual([["ü".repeat(5000), false]]);
});
