import type { Readable } from "node:stream";
import { BoundedBytes } from "./bounded-bytes.ts";

const maxAnswerBytes = 64 * 1024;

/** An endless answer of an untrusted instance must not fill memory. @throws {Error} above `limitBytes`, 64 KiB. */
export async function answerText(answer: Readable, limitBytes = maxAnswerBytes): Promise<string> {
  const bytes = new BoundedBytes(limitBytes);
  // Throwing out of the loop destroys the answer.
  for await (const chunk of answer as AsyncIterable<Buffer>)
    if (!bytes.append(chunk)) throw new Error(`The answer of an instance exceeds ${String(limitBytes)} bytes.`);
  return bytes.take().toString();
}
