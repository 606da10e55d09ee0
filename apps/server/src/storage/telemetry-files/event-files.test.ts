import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readChunk, seqOf, writeEvents } from "./event-files.ts";

const lineOf = (seq: number, length: number) =>
  `{"seq":${String(seq)},"event":{"type":"x","ts":${String(seq)},"data":"${"é".repeat(length)}"}}`;

async function inFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-events-"));
  try {
    return await run(join(folder, "s"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

it("are read from any offset, each once, in chunks of about the requested size", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 8 }), {
        minLength: 1,
        maxLength: 8,
      }),
      fc.integer({ min: 1, max: 2000 }),
      async (pieces, maxBytes) =>
        inFolder(async (folder) => {
          const writer = writeEvents(folder, 2 ** 20);
          const written: string[] = [];
          const read: string[] = [];
          let place = 0;
          for (const lengths of pieces) {
            const lines = lengths.map((length, index) => lineOf(written.length + index + 1, length));
            written.push(...lines);
            await writer.append(Buffer.from(`${lines.join("\n")}\n`));
            for (
              let chunk = await readChunk(folder, place, maxBytes);
              chunk !== undefined;
              chunk = await readChunk(folder, place, maxBytes)
            ) {
              expect(chunk.start).toBe(place);
              if (chunk.lines.length > 1)
                expect(chunk.next - chunk.start).toBeLessThanOrEqual(
                  Math.max(maxBytes, 2 * Buffer.byteLength(chunk.lines[0] ?? "")),
                );
              read.push(...chunk.lines);
              place = chunk.next;
            }
          }
          expect(place).toBe(writer.place);
          await writer.close();
          expect(read).toEqual(written);
          expect(read.map(seqOf)).toEqual(written.map((_, index) => index + 1));
        }),
    ),
    { numRuns: 30 },
  );
});

it("continue with the oldest remaining event after an expired offset", async () => {
  await inFolder(async (folder) => {
    const writer = writeEvents(folder, 2 ** 20);
    const count = 8;
    // Half a file each.
    for (let seq = 1; seq <= count; seq += 1) await writer.append(Buffer.from(`${lineOf(seq, 2 ** 18)}\n`));
    const chunk = await readChunk(folder, 0, 100);
    expect(chunk?.start).toBeGreaterThan(0);
    expect(seqOf(chunk?.lines[0] ?? "")).toBeGreaterThan(1);
    expect(await readChunk(folder, writer.place, 100)).toBeUndefined();
    expect(await readChunk(`${folder}-none`, 0, 100)).toBeUndefined();
    await writer.close();
  });
});
