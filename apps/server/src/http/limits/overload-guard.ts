import { ServiceError } from "@shoal/router";
import { type Placement, withAcquire } from "@shoal/placement";
import { getHeapStatistics } from "node:v8";
import type { InFlight } from "../in-flight.ts";

/** Read at each check; 0 = no limit. */
export interface OverloadRules {
  /** Without event streams. */
  maxRequests: number;
  /** Includes sessions that wait to start. */
  maxStarting: number;
  /** Recent event loop delay, in milliseconds. */
  maxDelayMs: number;
  /** The server's process, without browsers. */
  maxMemoryMb: number;
}

export interface OverloadGuard {
  /** DELETE is always admitted, because it frees resources. @throws {ServiceError} 503 `overloaded`. */
  admit(method: string | undefined): void;
  /** @throws {ServiceError} 529 `capacity_exhausted`. */
  admitStart(): void;
  /** Resets the measured delay when the server begins to listen, because its own start blocks the event loop. */
  reset(): void;
  counting(placement: Placement): Placement;
  close(): void;
}

export interface OverloadParts {
  readonly rules: Readonly<OverloadRules>;
  readonly inFlight: () => InFlight | undefined;
  readonly onRefused: (why: "requests" | "event_loop" | "memory" | "starting") => void;
}

const lookEveryMs = 500;
/** At V8's heap limit the process would crash. */
const maxHeapShare = 0.93;

export function createOverloadGuard({ rules, inFlight, onRefused }: OverloadParts): OverloadGuard {
  let starting = 0;
  let streams = 0;
  let delayMs = 0;
  let memoryBytes = 0;
  let heapShare = 0;
  let lookedMs = performance.now();

  function look(): void {
    const nowMs = performance.now();
    // A moving average: one long turn is not an overload, two are.
    delayMs = delayMs / 2 + Math.max(0, nowMs - lookedMs - lookEveryMs) / 2;
    lookedMs = nowMs;
    streams = inFlight()?.count().streams ?? 0;
    memoryBytes = rules.maxMemoryMb === 0 ? 0 : process.memoryUsage.rss();
    const heap = getHeapStatistics();
    heapShare = heap.used_heap_size / heap.heap_size_limit;
  }

  function refuse(why: Parameters<OverloadParts["onRefused"]>[0], what: string): never {
    onRefused(why);
    throw new ServiceError(503, "overloaded", `The server is overloaded: ${what}.`, {
      hint: "Repeat the request in a moment.",
      retryAfterSeconds: 2,
    });
  }

  const timer = setInterval(look, lookEveryMs).unref();
  return {
    admit(method) {
      if (method === "DELETE") return;
      const open = (inFlight()?.size() ?? 0) - streams;
      if (rules.maxRequests > 0 && open > rules.maxRequests)
        refuse("requests", `it is already answering ${String(rules.maxRequests)} requests`);
      if (rules.maxDelayMs > 0 && delayMs > rules.maxDelayMs)
        refuse("event_loop", `its event loop is ${String(Math.round(delayMs))} ms behind`);
      if (heapShare > maxHeapShare || (rules.maxMemoryMb > 0 && memoryBytes > rules.maxMemoryMb * 1024 * 1024))
        refuse("memory", "its memory is nearly used up");
    },
    admitStart() {
      if (rules.maxStarting === 0 || starting < rules.maxStarting) return;
      onRefused("starting");
      throw new ServiceError(
        529,
        "capacity_exhausted",
        `${String(starting)} sessions are starting on this server, the limit.`,
        { limit: starting, hint: "Try again in a moment, or keep a browser pool for bursts.", retryAfterSeconds: 2 },
      );
    },
    reset() {
      delayMs = 0;
      lookedMs = performance.now();
    },
    counting(placement) {
      return withAcquire(placement, async (...args) => {
        starting += 1;
        try {
          return await placement.acquire(...args);
        } finally {
          starting -= 1;
        }
      });
    },
    close() {
      clearInterval(timer);
    },
  };
}
