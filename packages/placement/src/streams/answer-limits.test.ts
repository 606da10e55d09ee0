import { PassThrough, Readable } from "node:stream";
import { expect, it } from "vitest";
import { answerJson, answerText } from "./answer-text.ts";

function endless(start: string, part: string): Readable {
  const bytes = Buffer.from(part.repeat(1000));
  let isFirst = true;
  return new Readable({
    read() {
      this.push(isFirst ? Buffer.concat([Buffer.from(start), bytes]) : bytes);
      isFirst = false;
    },
  });
}

it.each([
  ["values", endless("[{}", ",{}"), "has more than 10000 values"],
  ["levels", endless("", "["), "is nested more than 64 levels deep"],
  ["levels of objects", endless("", '{"a":'), "is nested more than 64 levels deep"],
  ["bytes in a string", endless('"', "\\\\"), "exceeds 65536 bytes"],
  ["spaces", endless("", " "), "exceeds 65536 bytes"],
])("stops reading an answer with endless %s, and destroys it", async (_what, answer, problem) => {
  await expect(answerText(answer)).rejects.toThrow(problem);
  expect(answer.destroyed).toBe(true);
});

it("ends an answer that does not end in time", async () => {
  const answer = new PassThrough();
  answer.write("[");
  await expect(answerText(answer, { ms: 20 })).rejects.toThrow("took longer than 0.02 s");
  expect(answer.destroyed).toBe(true);
});

it.each([
  ["bytes that are not UTF-8", Buffer.from('"\xff"', "latin1"), "not valid UTF-8"],
  ["half a value", Buffer.from('{"a":'), "not valid JSON"],
  ["nothing", Buffer.alloc(0), "not valid JSON"],
])("refuses %s as JSON", async (_what, bytes, problem) => {
  await expect(answerJson(Readable.from([bytes]))).rejects.toThrow(problem);
});
