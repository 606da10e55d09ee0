import type { RecordedIndex } from "./recorded-index.ts";

/** A recording that sessions of this server replay. */
export interface SharedRecording {
  readonly index: RecordedIndex;
  /** It was deleted: it answers nothing more. */
  isGone: boolean;
}

/** Reads the index of each recording once for all sessions that replay it, and releases it with the last of them. */
export class SharedRecordings {
  readonly #reading = new Map<string, Promise<SharedRecording>>();
  readonly #read = new Map<string, WeakRef<SharedRecording>>();

  async get(id: string, read: () => Promise<RecordedIndex>): Promise<SharedRecording> {
    const present = this.#read.get(id)?.deref();
    if (present !== undefined) return present;
    const reading = this.#reading.get(id) ?? this.#start(id, read);
    this.#reading.set(id, reading);
    return reading;
  }

  /** Ends the answers of a deleted recording. */
  forget(id: string): void {
    const present = this.#read.get(id)?.deref();
    if (present !== undefined) present.isGone = true;
    this.#read.delete(id);
    this.#reading.delete(id);
  }

  async #start(id: string, read: () => Promise<RecordedIndex>): Promise<SharedRecording> {
    try {
      const index = await read();
      // It may have been deleted meanwhile.
      const shared = { index, isGone: !this.#reading.has(id) };
      for (const [other, reference] of this.#read) if (reference.deref() === undefined) this.#read.delete(other);
      this.#read.set(id, new WeakRef(shared));
      return shared;
    } finally {
      this.#reading.delete(id);
    }
  }
}
