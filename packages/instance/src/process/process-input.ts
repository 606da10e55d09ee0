/** So much is handed to the system at once, and may be left with it when a write gives up. */
const pieceBytes = 16 * 1024;

/**
 * Writes to the input of one program, in order. A program that does not read blocks its input, and a write that was begun cannot be taken back: so what is
 * handed over goes in small pieces, and a write that gives up says exactly how much the program will read.
 */
export class ProcessInput {
  readonly #write: (data: Buffer) => Promise<void>;
  /** The end of the writes that were asked for before. */
  #turn: Promise<unknown> = Promise.resolve();
  /** The piece that the system has been given last. */
  #given: Promise<void> = Promise.resolve();

  /** @param write - resolves when the system has taken all of it; rejects when the program reads no more. */
  constructor(write: (data: Buffer) => Promise<void>) {
    this.#write = write;
  }

  /**
   * @param giveUp - ends the write when it aborts.
   * @returns how many bytes were handed over: fewer than there are when it gave up. The program gets them when it reads.
   * @throws when the program reads no more.
   */
  async write(data: Buffer, giveUp: AbortSignal): Promise<number> {
    const before = this.#turn;
    const turn = Promise.withResolvers<undefined>();
    this.#turn = before.then(() => turn.promise);
    try {
      if (!(await isSettled(before, giveUp)) || !(await isSettled(this.#given, giveUp))) return 0;
      return await this.#writePieces(data, giveUp);
    } finally {
      turn.resolve(undefined);
    }
  }

  async #writePieces(data: Buffer, giveUp: AbortSignal): Promise<number> {
    for (let written = 0; written < data.length;) {
      const piece = data.subarray(written, written + pieceBytes);
      this.#given = this.#write(piece);
      // Whoever writes next meets it.
      this.#given.catch(() => undefined);
      written += piece.length;
      if (!(await isSettled(this.#given, giveUp)) && written < data.length) return written;
    }
    return data.length;
  }
}

/** @returns `false` when the signal aborts first. @throws what the promise rejects with. */
async function isSettled(promise: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  const aborted = Promise.withResolvers<false>();
  const abort = (): void => {
    aborted.resolve(false);
  };
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise.then(() => true), aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
