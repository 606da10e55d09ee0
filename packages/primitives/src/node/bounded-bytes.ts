const firstBytes = 256;

/** One buffer: a list of one-byte chunks from a hostile sender would take a hundred times the memory. */
export class BoundedBytes {
  readonly #maxBytes: number;
  #buffer: Buffer<ArrayBuffer> = Buffer.alloc(0);
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes that {@link take} returns. */
  get length(): number {
    return this.#length;
  }

  /** Copies as much as fits. Returns whether all of it did. */
  append(piece: Uint8Array): boolean {
    const taken = piece.subarray(0, this.#maxBytes - this.#length);
    this.#reserve(this.#length + taken.length);
    this.#buffer.set(taken, this.#length);
    this.#length += taken.length;
    return taken.length === piece.length;
  }

  /** Returns the bytes since the last call. */
  take(): Buffer<ArrayBuffer> {
    const gathered = this.#buffer.subarray(0, this.#length);
    this.#buffer = Buffer.alloc(0);
    this.#length = 0;
    return gathered;
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const grown = Buffer.alloc(Math.min(this.#maxBytes, Math.max(bytes, this.#buffer.length * 2, firstBytes)));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

/** Reads `source` to its end. Returns `undefined` if it has more than `maxBytes`; a stream is closed then. */
export async function readAtMost(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const bytes = new BoundedBytes(maxBytes);
  for await (const piece of source) if (!bytes.append(piece)) return undefined;
  return bytes.take();
}
