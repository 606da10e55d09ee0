import type { StreamFrame } from "@shoal/router";

/** Events that a log keeps; older ones go, and readers that want them are told of the gap. */
const maxEvents = 10_000;

/** The last events of a source, numbered from 1. Readers come and go; each has a place of its own. */
export class EventLog<T> {
  #events: T[] = [];
  /** Number of the first event that is kept. */
  #first = 1;
  #closed = false;
  readonly #waiting = new Set<() => void>();

  /** Number of the latest event, 0 before the first. */
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

  /** No more events come. Readers get what is kept, and then the end. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** @param after - number of the last event that is known; 0 begins with the oldest that is kept. */
  read(after: number): AsyncIterableIterator<StreamFrame<T>, undefined> {
    let next = after + 1;
    let left = false;
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
          if (event !== undefined) return { done: false, value: { id: String(next++), data: event } };
          if (this.#closed) return end();
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
