/** Counts the frames of a WebSocket client, except answers to pings, by their heads (RFC 6455, 5.2). */
export class MessageCount {
  count = 0;
  readonly #changed = new Set<() => void>();
  #head: number[] = [];
  #left = 0;

  add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#left > 0) {
        const skipped = Math.min(this.#left, chunk.length - at);
        this.#left -= skipped;
        at += skipped;
      } else {
        this.#head.push(chunk[at] ?? 0);
        at += 1;
        this.#readHead();
      }
    }
  }

  #readHead(): void {
    const [first = 0, second = 0] = this.#head;
    const short = second & 0x7f;
    const extended = short === 127 ? 8 : short === 126 ? 2 : 0;
    const mask = (second & 0x80) === 0 ? 0 : 4;
    if (this.#head.length < 2 + extended + mask) return;
    this.#left = extended === 0 ? short : this.#head.slice(2, 2 + extended).reduce((sum, byte) => sum * 256 + byte, 0);
    this.#head = [];
    if ((first & 0x0f) === 0x0a) return;
    this.count += 1;
    for (const look of this.#changed) look();
  }

  /** Resolves when the client has sent as many, or at the abortion. */
  reached(wanted: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.count < wanted && !signal.aborted) return;
        this.#changed.delete(look);
        signal.removeEventListener("abort", look);
        resolve();
      };
      this.#changed.add(look);
      signal.addEventListener("abort", look);
      look();
    });
  }
}
