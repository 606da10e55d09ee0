import type { StreamFrame } from "@shoal/router";

/** Older events are dropped; readers behind them get a gap. */
const maxEvents = 10_000;

/** The latest events of a source, numbered from 1, for any number of independent readers. */
export class EventLog<T> {
  #events: T[] = [];
  #first = 1;
  #closed = false;
  readonly #waiting = new Set<() => void>();

  /** Number of the latest event; 0 before the first. */
  get lastId(): number {
    return this.#first + this.#events.length - 1;
  }

  push(event: T): void {
    if (this.#closed) return;
    this.#events.push(event);
    if (this.#events.length > maxEvents) {
      this.#events.shift();
      this.#first++;
    }
    this.#wake();
  }

  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /**
   * @param after - number of the last known event; 0 starts with the oldest available.
   * @param isWanted - skips other events.
   */
  read(after: number, isWanted: (event: T) => boolean = () => true): AsyncIterableIterator<StreamFrame<T>, undefined> {
    let next = after + 1;
    let left = false;
    let isCaughtUp = false;
    let wake = Promise.withResolvers<undefined>();
    const onNews = (): void => {
      wake.resolve(undefined);
    };
    this.#waiting.add(onNews);
    const end = (): IteratorReturnResult<undefined> => {
      left = true;
      this.#waiting.delete(onNews);
      wake.resolve(undefined);
      return { done: true, value: undefined };
    };
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: async () => {
        for (;;) {
          if (left) return end();
          wake = Promise.withResolvers();
          if (next < this.#first) {
            const missed = this.#first - next;
            next = this.#first;
            return { done: false, value: { id: String(next - 1), gap: { missed } } };
          }
          const event = this.#events[next - this.#first];
          if (event !== undefined) {
            const id = String(next++);
            if (!isWanted(event)) continue;
            return { done: false, value: { id, data: event } };
          }
          if (this.#closed) return end();
          if (!isCaughtUp) {
            isCaughtUp = true;
            return { done: false, value: { id: String(next - 1), caughtUp: true } };
          }
          await wake.promise;
        }
      },
      return: () => Promise.resolve(end()),
    };
  }

  #wake(): void {
    for (const waiting of this.#waiting) waiting();
  }
}
