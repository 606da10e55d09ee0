/** Silence after the exit that ends the output, while a background program keeps it open. */
const quietMs = 100;
/** Limit for reading the output that the system had buffered at the exit. */
const patienceMs = 1_000;

/** The output ends when all streams end or, while a background program keeps them open, after a silence. */
export class OutputEnd {
  readonly #onEnd: () => void;
  #exited = false;
  #paused = false;
  #over = false;
  #open: number;
  #quiet: NodeJS.Timeout | undefined;
  #patience: NodeJS.Timeout | undefined;

  constructor(streams: number, onEnd: () => void) {
    this.#open = streams;
    this.#onEnd = onEnd;
  }

  /** The output is complete. Later output belongs to other programs. */
  get over(): boolean {
    return this.#over;
  }
  exit(): void {
    this.#exited = true;
    this.#wait();
  }
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
    // A late timer may run before pending output is read.
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
