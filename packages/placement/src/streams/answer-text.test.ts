import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { answerText } from "./answer-text.ts";

it("reads an answer whose characters are split between chunks", async () => {
  const bytes = Buffer.from('{"message":"Größe"}');
  expect(
    await answerText(
      Readable.from(
        [...bytes].map((byte) => Buffer.from([byte])),
        { objectMode: false },
      ),
    ),
  ).toBe('{"message":"Größe"}');
});

it("reads at most 64 KiB, and destroys a longer answer", async () => {
  expect((await answerText(Readable.from([Buffer.alloc(65_536)]))).length).toBe(65_536);
  const endless = new Readable({
    read() {
      this.push(Buffer.alloc(65_536));
    },
  });
  await expect(answerText(endless)).rejects.toThrow("exceeds 65536 bytes");
  expect(endless.destroyed).toBe(true);
});
