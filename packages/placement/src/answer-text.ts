import type { Readable } from "node:stream";
import { BoundedBytes } from "./bounded-bytes.ts";

/** Answers that are not streams of files or events; those with the names of recordings are the longest. */
const maxAnswerBytes = 64 * 1024;

/**
 * Reads the whole body of a short answer of an instance. Code in a box may have taken the instance over, so an answer without end is not kept in memory.
 *
 * @throws {Error} when it is longer than 64 KiB; the answer is then destroyed.
 */
export async function answerText(answer: Readable): Promise<string> {
  const bytes = new BoundedBytes(maxAnswerBytes);
  // Leaving the loop destroys the answer.
  for await (const chunk of answer as AsyncIterable<Buffer>)
    if (!bytes.append(chunk)) throw new Error(`An instance answered more than ${String(maxAnswerBytes)} bytes.`);
  return bytes.take().toString();
}
