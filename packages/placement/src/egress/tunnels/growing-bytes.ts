/** Collects chunks in linear time. A list of chunks would take many times the memory if they are small. */
export class GrowingBytes {
  #buffer = Buffer.alloc(1_024);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Valid until the next chunk. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#size);
  }

  add(chunk: Buffer): void {
    const size = this.#size + chunk.length;
    if (size > this.#buffer.length) {
      const larger = Buffer.alloc(Math.max(size, 2 * this.#buffer.length));
      this.#buffer.copy(larger, 0, 0, this.#size);
      this.#buffer = larger;
    }
    chunk.copy(this.#buffer, this.#size);
    this.#size = size;
  }
}
