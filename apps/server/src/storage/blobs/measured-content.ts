import { createHash } from "node:crypto";
import type { Readable } from "node:stream";

export class BlobTooLarge extends Error {
  override readonly name = "BlobTooLarge";
}

export class BoundedContent {
  readonly #source: Readable;
  readonly #maxBytes: number;
  #sizeBytes = 0;
  /** Set when the source failed, as opposed to the reader of {@link chunks}. */
  failure: { readonly error: unknown } | undefined;

  constructor(source: Readable, maxBytes: number) {
    this.#source = source;
    this.#maxBytes = maxBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** @throws {BlobTooLarge} after `maxBytes`; every error of the source. */
  async *chunks(): AsyncGenerator<Buffer, void, undefined> {
    try {
      for await (const chunk of this.#source as AsyncIterable<Buffer>) {
        this.#sizeBytes += chunk.length;
        if (this.#sizeBytes > this.#maxBytes) throw new BlobTooLarge(`More than ${String(this.#maxBytes)} bytes.`);
        yield chunk;
      }
    } catch (error) {
      this.failure = { error };
      throw error;
    }
  }
}

export class MeasuredContent extends BoundedContent {
  readonly #hash = createHash("sha256");

  override async *chunks(): AsyncGenerator<Buffer, void, undefined> {
    for await (const chunk of super.chunks()) {
      this.#hash.update(chunk);
      yield chunk;
    }
  }

  /** Lower-case hex. Call once, after the last chunk. */
  result(): { readonly sizeBytes: number; readonly sha256: string } {
    return { sizeBytes: this.sizeBytes, sha256: this.#hash.digest("hex") };
  }
}
