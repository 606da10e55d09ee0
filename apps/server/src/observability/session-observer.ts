import { type Instance, type Placement, withAcquire } from "@shoal/placement";
import type { StoreObserver } from "../sessions/browsers/session-store.ts";
import type { Metrics } from "./metrics.ts";
import type { Tracing } from "./tracing.ts";

/** Measures the starts, rows and ends of sessions. */
export interface SessionObserver extends StoreObserver {
  starting(start: () => Promise<Instance>): Promise<Instance>;
}

/** Returns `undefined` without metrics and traces. */
export function createSessionObserver(
  metrics: Metrics | undefined,
  tracing: Tracing | undefined,
): SessionObserver | undefined {
  if (metrics === undefined && tracing === undefined) return undefined;
  return {
    async starting(start) {
      const began = performance.now();
      let isStarted = false;
      try {
        const made = await (tracing === undefined ? start() : tracing.step("session.start_instance", start));
        isStarted = true;
        if (metrics !== undefined)
          made.sleep.onChange((change) => {
            metrics.sleepChanged(change);
          });
        return made;
      } finally {
        metrics?.instanceStarted(performance.now() - began, isStarted);
      }
    },
    storing: (store) => (tracing === undefined ? store() : tracing.step("session.store", store)),
    ended: (reason) => metrics?.sessionsEnded(reason),
  };
}

export function observedPlacement(placement: Placement, observer: SessionObserver): Placement {
  return withAcquire(placement, (...args) => observer.starting(() => placement.acquire(...args)));
}
