const blockBytes = 64 * 1024;

/** Copies records into own blocks: single records would keep alive the pooled memory of small buffers. */
export class ZipDirectory {
  readonly #full: Buffer[] = [];
  #block = Buffer.alloc(0);
  #used = 0;
  #sizeBytes = 0;
  #records = 0;

  get records(): number {
    return this.#records;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  add(record: Buffer): void {
    if (this.#used + record.length > this.#block.length) {
      if (this.#used > 0) this.#full.push(this.#block.subarray(0, this.#used));
      this.#block = Buffer.alloc(Math.max(blockBytes, record.length));
      this.#used = 0;
    }
    record.copy(this.#block, this.#used);
    this.#used += record.length;
    this.#sizeBytes += record.length;
    this.#records += 1;
  }

  *blocks(): Generator<Buffer> {
    yield* this.#full;
    if (this.#used > 0) yield this.#block.subarray(0, this.#used);
  }
}
