import { Turns } from "../../system/turns.ts";

/** A write that gives up may leave one piece with the system. */
const pieceBytes = 16 * 1024;

/** A pending write cannot be cancelled. Small pieces allow a write that gives up to report how much will be read. */
export class ProcessInput {
  readonly #write: (data: Buffer) => Promise<void>;
  readonly #turns = new Turns({ running: 1, waiting: Infinity });
  #given: Promise<void> = Promise.resolve();

  constructor(write: (data: Buffer) => Promise<void>) {
    this.#write = write;
  }

  /** Returns how many bytes the program has read or will read. Aborting `giveUp` stops the write. */
  async write(data: Buffer, giveUp: AbortSignal): Promise<number> {
    const endTurn = await this.#turns.take(giveUp).catch(() => undefined);
    if (endTurn === undefined) return 0;
    try {
      return (await isSettled(this.#given, giveUp)) ? await this.#writePieces(data, giveUp) : 0;
    } finally {
      endTurn();
    }
  }

  async #writePieces(data: Buffer, giveUp: AbortSignal): Promise<number> {
    for (let written = 0; written < data.length;) {
      const piece = data.subarray(written, written + pieceBytes);
      this.#given = this.#write(piece);
      // The next write reports it.
      this.#given.catch(() => undefined);
      written += piece.length;
      if (!(await isSettled(this.#given, giveUp)) && written < data.length) return written;
    }
    return data.length;
  }
}

/** Returns `false` when the signal aborts first. @throws the promise's rejection. */
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
