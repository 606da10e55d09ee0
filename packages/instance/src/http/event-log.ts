import type { StreamFrame } from "@shoal/router";

export interface LogLimits {
  readonly events: number;
  readonly bytes: number;
  /** Shared by all logs of a session. Above `maxBytes`, a growing log drops its own oldest events. */
  readonly shared: { bytes: number; readonly maxBytes: number };
}

/** Kept even when the shared limit is reached. */
const alwaysKept = 16;

interface Kept<T> {
  readonly data: T;
  readonly bytes: number;
}

/** The latest events of a source, numbered from 1 without gaps. A slow reader gets a gap. */
export class EventLog<T> {
  readonly #limits: LogLimits;
  /** A ring: event n is at `n % length`. */
  #ring: (Kept<T> | undefined)[] = new Array<Kept<T> | undefined>(16);
  #first = 1;
  #next = 1;
  #bytes = 0;
  #closed = false;
  #released = false;
  #failure: Error | undefined;
  readonly #readers = new Set<LogReader<T>>();
  readonly #onLeave: (() => void) | undefined;

  constructor(limits: LogLimits, onLeave?: () => void) {
    this.#limits = limits;
    this.#onLeave = onLeave;
  }

  get lastId(): number {
    return this.#next - 1;
  }
  get closed(): boolean {
    return this.#closed;
  }
  get failure(): Error | undefined {
    return this.#failure;
  }
  get readers(): number {
    return this.#readers.size;
  }

  push(data: T, bytes: number): void {
    if (this.#closed) return;
    if (this.#next - this.#first === this.#ring.length) this.#grow();
    this.#ring[this.#next++ % this.#ring.length] = { data, bytes };
    this.#bytes += bytes;
    this.#limits.shared.bytes += bytes;
    while (this.#isTooLarge()) this.#drop();
    this.#wake();
  }

  /** Readers get the kept events, then the end or `failure`. */
  close(failure?: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#failure = failure;
    this.#wake();
  }

  /** Drops all but the last `count` events. Readers that have not read them get a gap. */
  trim(count: number): void {
    while (this.#next - this.#first > count) this.#drop();
  }

  release(): void {
    this.#released = true;
    if (this.#readers.size === 0) while (this.#first < this.#next) this.#drop();
  }

  /**
   * `after` 0 starts with the oldest kept event. A mark follows the last kept event, before the first new one. The caller must
   * finish or return the iterator.
   */
  read(after: number): AsyncIterableIterator<StreamFrame<T>> {
    let next = after + 1;
    let isCaughtUp = false;
    const reader = new LogReader<T>(
      () => {
        if (next < this.#first) {
          const missed = this.#first - next;
          next = this.#first;
          return { value: { id: String(next - 1), gap: { missed } }, done: false };
        }
        const kept = next < this.#next ? this.#ring[next % this.#ring.length] : undefined;
        if (kept) return { value: { id: String(next++), data: kept.data }, done: false };
        if (!this.#closed) {
          if (isCaughtUp) return undefined;
          isCaughtUp = true;
          return { value: { id: String(next - 1), caughtUp: true }, done: false };
        }
        if (this.#failure) throw this.#failure;
        return { value: undefined, done: true };
      },
      () => {
        if (!this.#readers.delete(reader)) return;
        if (this.#released) this.release();
        this.#onLeave?.();
      },
    );
    this.#readers.add(reader);
    return reader;
  }

  #isTooLarge(): boolean {
    const { events, bytes, shared } = this.#limits;
    const count = this.#next - this.#first;
    return (
      count > events || (count > 1 && this.#bytes > bytes) || (count > alwaysKept && shared.bytes > shared.maxBytes)
    );
  }

  #drop(): void {
    const index = this.#first++ % this.#ring.length;
    const bytes = this.#ring[index]?.bytes ?? 0;
    this.#ring[index] = undefined;
    this.#bytes -= bytes;
    this.#limits.shared.bytes -= bytes;
  }

  #grow(): void {
    const larger = new Array<Kept<T> | undefined>(this.#ring.length * 2);
    for (let id = this.#first; id < this.#next; id++) larger[id % larger.length] = this.#ring[id % this.#ring.length];
    this.#ring = larger;
  }

  #wake(): void {
    for (const reader of this.#readers) reader.wake();
  }
}

type Step<T> = IteratorResult<StreamFrame<T>, undefined>;

/** Not a generator: `return` of a generator waits for the pending `next`, possibly forever. */
class LogReader<T> implements AsyncIterableIterator<StreamFrame<T>, undefined> {
  readonly #take: () => Step<T> | undefined;
  readonly #leave: () => void;
  #left = false;
  #waiting: PromiseWithResolvers<Step<T>> | undefined;

  constructor(take: () => Step<T> | undefined, leave: () => void) {
    this.#take = take;
    this.#leave = leave;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step<T>> {
    if (this.#waiting) return Promise.reject(new Error("The reader is being read already."));
    this.#waiting = Promise.withResolvers<Step<T>>();
    const { promise } = this.#waiting;
    this.wake();
    return promise;
  }

  return(): Promise<Step<T>> {
    this.#end();
    this.wake();
    return Promise.resolve({ value: undefined, done: true });
  }

  wake(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    try {
      const step: Step<T> | undefined = this.#left ? { value: undefined, done: true } : this.#take();
      if (!step) return;
      this.#waiting = undefined;
      if (step.done) this.#end();
      waiting.resolve(step);
    } catch (error) {
      this.#waiting = undefined;
      this.#end();
      // A failure cuts the connection: send previous events first, or a reconnecting reader would fail again.
      setImmediate(() => {
        waiting.reject(error);
      });
    }
  }

  #end(): void {
    if (this.#left) return;
    this.#left = true;
    this.#leave();
  }
}
