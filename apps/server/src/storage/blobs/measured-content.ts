import { createHash } from "node:crypto";
import type { Readable } from "node:stream";

export class BlobTooLarge extends Error {
  override readonly name = "BlobTooLarge";
}

export class MeasuredContent {
  readonly #source: Readable;
  readonly #maxBytes: number;
  readonly #hash = createHash("sha256");
  #sizeBytes = 0;
  /** Set when the source failed, as opposed to the reader of {@link chunks}. */
  failure: { readonly error: unknown } | undefined;

  constructor(source: Readable, maxBytes: number) {
    this.#source = source;
    this.#maxBytes = maxBytes;
  }

  /** @throws {BlobTooLarge} after `maxBytes`; every error of the source. */
  async *chunks(): AsyncGenerator<Buffer, void, undefined> {
    try {
      for await (const chunk of this.#source as AsyncIterable<Buffer>) {
        this.#sizeBytes += chunk.length;
        if (this.#sizeBytes > this.#maxBytes) throw new BlobTooLarge(`More than ${String(this.#maxBytes)} bytes.`);
        this.#hash.update(chunk);
        yield chunk;
      }
    } catch (error) {
      this.failure = { error };
      throw error;
    }
  }

  /** Lower-case hex. Call once, after the last chunk. */
  result(): { readonly sizeBytes: number; readonly sha256: string } {
    return { sizeBytes: this.#sizeBytes, sha256: this.#hash.digest("hex") };
  }
}
