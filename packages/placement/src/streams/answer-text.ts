import { type JsonBounds, JsonScan } from "@shoal/primitives";
import { isUtf8 } from "node:buffer";
import type { Readable } from "node:stream";
import { BoundedBytes } from "@shoal/primitives/node";

/** Within the bounds of `values` and `depth`, parsing and validation take a few milliseconds. */
export interface AnswerLimits extends JsonBounds {
  readonly bytes: number;
  /** Milliseconds from the head of the answer to its end. */
  readonly ms: number;
}

export const smallAnswer: AnswerLimits = { bytes: 64 * 1024, values: 10_000, depth: 64, ms: 30_000 };

/** The answer of an untrusted instance is larger, deeper or slower than any valid one. */
export class AnswerProblem extends Error {
  override readonly name = "AnswerProblem";
}

/**
 * Reads an answer of an untrusted instance, and stops at the first limit that it exceeds: neither its size, its
 * structure nor its pace can fill memory or block the main thread.
 * @throws {AnswerProblem} Destroys the answer.
 */
export async function answerText(answer: Readable, limits: Partial<AnswerLimits> = {}): Promise<string> {
  const bytes = await answerBytes(answer, limits);
  return bytes.toString("utf8");
}

/** Like {@link answerText}, for JSON. @throws {AnswerProblem} also for invalid JSON and UTF-8. */
export async function answerJson(answer: Readable, limits: Partial<AnswerLimits> = {}): Promise<unknown> {
  const bytes = await answerBytes(answer, limits);
  if (!isUtf8(bytes)) throw new AnswerProblem("The answer of an instance is not valid UTF-8.");
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw new AnswerProblem("The answer of an instance is not valid JSON.", { cause });
  }
}

/** Like {@link answerText}, as bytes. @throws {AnswerProblem} */
export async function answerBytes(answer: Readable, given: Partial<AnswerLimits> = {}): Promise<Buffer> {
  const limits = { ...smallAnswer, ...given };
  const bytes = new BoundedBytes(limits.bytes);
  const scan = new JsonScan(limits);
  const timer = setTimeout(() => {
    answer.destroy(new AnswerProblem(`The answer of an instance took longer than ${String(limits.ms / 1000)} s.`));
  }, limits.ms);
  try {
    // Throwing out of the loop destroys the answer.
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      if (!bytes.append(chunk))
        throw new AnswerProblem(`The answer of an instance exceeds ${String(limits.bytes)} bytes.`);
      const exceeded = scan.add(chunk);
      if (exceeded !== undefined)
        throw new AnswerProblem(
          exceeded === "values"
            ? `The answer of an instance has more than ${String(limits.values)} values.`
            : `The answer of an instance is nested more than ${String(limits.depth)} levels deep.`,
        );
    }
  } finally {
    clearTimeout(timer);
  }
  return bytes.take();
}
