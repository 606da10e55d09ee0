import type { Readable } from "node:stream";

/** Of what is no stream of files or events; answers with recordings' names are the longest. */
const maxAnswerBytes = 2 ** 20;

/**
 * The whole body of a short answer of an instance. What runs in a box is not trusted, its instance neither: one that does not come to an end is not kept in memory.
 *
 * @throws {Error} when it is longer than 1 MiB; the answer is then destroyed.
 */
export async function answerText(answer: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop destroys the answer.
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) throw new Error(`An instance answered more than ${String(maxAnswerBytes)} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
