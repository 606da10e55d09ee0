import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { answerText } from "./answer-text.ts";

it("reads an answer, letters that are cut between pieces too", async () => {
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

it("reads no more than 64 KiB, and ends what goes on", async () => {
  expect((await answerText(Readable.from([Buffer.alloc(65_536)]))).length).toBe(65_536);
  const endless = new Readable({
    read() {
      this.push(Buffer.alloc(65_536));
    },
  });
  await expect(answerText(endless)).rejects.toThrow("more than 65536 bytes");
  expect(endless.destroyed).toBe(true);
});
