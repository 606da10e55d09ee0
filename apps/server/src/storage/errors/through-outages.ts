import { outageOf } from "@shoal/database";
import { setTimeout as delay } from "node:timers/promises";

const firstPauseMs = 100;
const maxPauseMs = 5_000;

/**
 * Repeats work that may run twice until the database is back. Rejects with other errors, and during an outage when the
 * signal aborts.
 */
export async function throughOutages<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  // A function, so that TypeScript does not narrow across the `await`.
  const isOver = (): boolean => signal.aborted;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (outageOf(error) === undefined || isOver()) throw error;
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (isOver()) throw error;
    }
  }
}
