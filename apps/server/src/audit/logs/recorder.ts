import { setTimeout as delay } from "node:timers/promises";
import pLimit from "p-limit";
import type { Log } from "../../log/log.ts";
import type { AuditChain } from "./chain.ts";
import type { AuditNote } from "./entry.ts";

const writeAfterMs = 200;
const retryAfterMs = 1000;
const maxBatch = 1000;
/** Limit of the buffer while the database is unavailable, about 10 MB. */
const maxWaiting = 20_000;
const lastTries = 5;

/** Writes notes to the audit log in batches, and keeps them while the database is unavailable. */
export class AuditRecorder {
  readonly #chain: Pick<AuditChain, "append">;
  readonly #log: Log;
  readonly #writes = pLimit(1);
  #waiting: AuditNote[] = [];
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(chain: Pick<AuditChain, "append">, log: Log) {
    this.#chain = chain;
    this.#log = log;
  }

  note(entry: AuditNote): void {
    if (this.#waiting.length >= maxWaiting) this.#dropped += 1;
    else this.#waiting.push(entry);
    this.#schedule(writeAfterMs);
  }

  /** Resolves when all earlier notes are written or lost. */
  async flush(): Promise<void> {
    await this.#write();
  }

  /** Writes the remaining notes. Add no notes after this call. */
  async close(): Promise<void> {
    for (let attempt = 1; !(await this.#write()); attempt += 1) {
      if (attempt === lastTries) {
        const lost = this.#waiting.length + this.#dropped;
        this.#log.error({ lost }, "entries of the audit log were lost: the database is unavailable");
        break;
      }
      await delay(retryAfterMs);
    }
    clearTimeout(this.#timer);
  }

  #schedule(afterMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#write().then((isDone) => {
        if (!isDone) this.#schedule(retryAfterMs);
      });
    }, afterMs).unref();
  }

  /** @returns false if the database is unavailable. */
  #write(): Promise<boolean> {
    return this.#writes(() => this.#writeWaiting());
  }

  async #writeWaiting(): Promise<boolean> {
    while (this.#waiting.length > 0) {
      const notes = this.#waiting.slice(0, maxBatch);
      try {
        await this.#chain.append(notes);
      } catch (error) {
        const waiting = this.#waiting.length;
        this.#log.error({ err: error, waiting }, "the audit log could not be written; it will be retried");
        return false;
      }
      this.#waiting = this.#waiting.slice(notes.length);
    }
    if (this.#dropped > 0) {
      const dropped = this.#dropped;
      this.#log.error({ dropped }, "entries of the audit log were lost: the database was unavailable");
      this.#dropped = 0;
    }
    return true;
  }
}
