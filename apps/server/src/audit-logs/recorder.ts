import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../log.ts";
import type { AuditChain } from "./chain.ts";
import type { AuditNote } from "./entry.ts";

/** Takes notes at once, and writes them soon. */
export interface AuditRecorder {
  note(entry: AuditNote): void;
  /** Resolves when all that was noted before is written, or could not be. */
  flush(): Promise<void>;
  /** Writes what is left. Nothing may be noted after that. */
  close(): Promise<void>;
}

const writeAfterMs = 200;
const retryAfterMs = 1000;
const maxBatch = 1000;
/** Entries that are kept while the database is away, some 10 MB. */
const maxWaiting = 20_000;
const lastTries = 5;

export function createAuditRecorder(chain: AuditChain, log: Log): AuditRecorder {
  let waiting: AuditNote[] = [];
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<unknown> = Promise.resolve();

  /** @returns whether everything was written. */
  async function write(): Promise<boolean> {
    while (waiting.length > 0) {
      const notes = waiting.slice(0, maxBatch);
      try {
        await chain.append(notes);
      } catch (error) {
        log.error({ err: error, waiting: waiting.length }, "the audit log could not be written; it is tried again");
        return false;
      }
      waiting = waiting.slice(notes.length);
    }
    if (dropped > 0) {
      log.error({ dropped }, "entries of the audit log were lost while the database was away");
      dropped = 0;
    }
    return true;
  }

  /** After whatever is being written. */
  function writeNext(): Promise<boolean> {
    const next = writing.then(write);
    writing = next;
    return next;
  }

  function schedule(afterMs: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      void writeNext().then((isDone) => {
        if (!isDone) schedule(retryAfterMs);
      });
    }, afterMs).unref();
  }

  return {
    note(entry) {
      if (waiting.length >= maxWaiting) dropped += 1;
      else waiting.push(entry);
      schedule(writeAfterMs);
    },
    async flush() {
      await writeNext();
    },
    async close() {
      for (let attempt = 1; attempt <= lastTries; attempt += 1) {
        const isDone = await writeNext();
        if (isDone) break;
        if (attempt < lastTries) await delay(retryAfterMs);
        else log.error({ lost: waiting.length + dropped }, "entries of the audit log were lost: the database is away");
      }
      clearTimeout(timer);
    },
  };
}
