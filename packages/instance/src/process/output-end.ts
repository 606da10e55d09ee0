/** When nothing more has come for so long after the exit, what holds the output open is another program, left in the background. */
const quietMs = 100;
/** Time for what the system holds at the exit to be read, however much such a program goes on writing. */
const patienceMs = 1_000;

/**
 * Finds out when a program's output is complete: at the end of all streams, or, where a program that it left in the background holds them open, when all
 * that was written before the exit must have been read.
 */
export class OutputEnd {
  readonly #onEnd: () => void;
  #exited = false;
  #paused = false;
  #over = false;
  #open: number;
  #quiet: NodeJS.Timeout | undefined;
  #patience: NodeJS.Timeout | undefined;

  /** @param streams - how many there are. */
  constructor(streams: number, onEnd: () => void) {
    this.#open = streams;
    this.#onEnd = onEnd;
  }

  /** Whether the output is complete: what comes now is another program's. */
  get over(): boolean {
    return this.#over;
  }
  exit(): void {
    this.#exited = true;
    this.#wait();
  }
  /** Something has come. */
  came(): void {
    if (this.#exited && !this.#over && !this.#paused) this.#quiet?.refresh();
  }
  streamClosed(): void {
    this.#open--;
    if (this.#open === 0 && this.#exited) this.#end();
  }
  pause(): void {
    this.#paused = true;
    this.#stop();
  }
  resume(): void {
    this.#paused = false;
    if (this.#exited) this.#wait();
  }

  #wait(): void {
    this.#stop();
    if (this.#over || this.#paused) return;
    if (this.#open === 0) {
      this.#end();
      return;
    }
    // Timers may be late, and are then called before what has come meanwhile is read.
    const endSoon = () =>
      setImmediate(() =>
        setImmediate(() => {
          if (!this.#paused) this.#end();
        }),
      );
    this.#quiet = setTimeout(endSoon, quietMs);
    this.#patience = setTimeout(endSoon, patienceMs);
  }
  #stop(): void {
    clearTimeout(this.#quiet);
    clearTimeout(this.#patience);
  }
  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#stop();
    this.#onEnd();
  }
}
