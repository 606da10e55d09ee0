import { ServiceError } from "@shoal/router";
import type { Placement } from "@shoal/placement";
import { getHeapStatistics } from "node:v8";
import type { InFlight } from "../drain.ts";

/** When the server has too much to do. Read at each look, so that they can change while it runs; 0 = no such limit. */
export interface OverloadRules {
  /** Requests that are answered at once, event streams aside. */
  maxRequests: number;
  /** Sessions that may be starting at once, those that wait for their turn among them. */
  maxStarting: number;
  /** Milliseconds that whatever is ready to run has had to wait lately. */
  maxDelayMs: number;
  /** Memory of the server's process in MiB; that of browsers is apart. */
  maxMemoryMb: number;
}

/** Refuses work early, and cheaply, instead of doing all of it badly. */
export interface OverloadGuard {
  /**
   * Lets a request in. What makes room (DELETE) always is.
   *
   * @throws {ServiceError} 503 `overloaded`.
   */
  admit(method: string | undefined): void;
  /** Lets a session be started. @throws {ServiceError} 529 `capacity_exhausted`. */
  admitStart(): void;
  /** Forgets what was measured so far. Called when the server begins to answer: its own start keeps the event loop busy. */
  reset(): void;
  /** The placement, whose starts are counted. */
  counting(placement: Placement): Placement;
  close(): void;
}

export interface OverloadParts {
  readonly rules: Readonly<OverloadRules>;
  readonly inFlight: () => InFlight | undefined;
  /** Told of each refusal, with one of a few words. */
  readonly onRefused: (why: "requests" | "event_loop" | "memory" | "starting") => void;
}

const lookEveryMs = 500;
/** Of V8's own limit, beyond which the process would end. */
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
    // Half of it is history: one long turn is no overload, a second one is.
    delayMs = delayMs / 2 + Math.max(0, nowMs - lookedMs - lookEveryMs) / 2;
    lookedMs = nowMs;
    streams = inFlight()?.count().streams ?? 0;
    memoryBytes = rules.maxMemoryMb === 0 ? 0 : process.memoryUsage.rss();
    const heap = getHeapStatistics();
    heapShare = heap.used_heap_size / heap.heap_size_limit;
  }

  function refuse(why: Parameters<OverloadParts["onRefused"]>[0], what: string): never {
    onRefused(why);
    throw new ServiceError(
      503,
      "overloaded",
      `The server has too much to do: ${what}. Send the request again in a moment; its operator sees which limit it is in the settings of the server.`,
      { retryAfterSeconds: 2 },
    );
  }

  const timer = setInterval(look, lookEveryMs).unref();
  return {
    admit(method) {
      if (method === "DELETE") return;
      const open = (inFlight()?.size() ?? 0) - streams;
      // The one that asks is among them.
      if (rules.maxRequests > 0 && open > rules.maxRequests) refuse("requests", `it answers ${String(rules.maxRequests)} requests already`);
      if (rules.maxDelayMs > 0 && delayMs > rules.maxDelayMs) refuse("event_loop", `whatever it does waits for ${String(Math.round(delayMs))} ms`);
      if (heapShare > maxHeapShare || (rules.maxMemoryMb > 0 && memoryBytes > rules.maxMemoryMb * 1024 * 1024))
        refuse("memory", "its memory is nearly used up");
    },
    admitStart() {
      if (rules.maxStarting === 0 || starting < rules.maxStarting) return;
      onRefused("starting");
      throw new ServiceError(
        529,
        "capacity_exhausted",
        `${String(starting)} sessions are starting on this server, as many as may at once. Try again in a moment, or keep a browser pool for bursts.`,
        { retryAfterSeconds: 2 },
      );
    },
    reset() {
      delayMs = 0;
      lookedMs = performance.now();
    },
    counting(placement) {
      return {
        ...placement,
        async acquire(...args) {
          starting += 1;
          try {
            return await placement.acquire(...args);
          } finally {
            starting -= 1;
          }
        },
      };
    },
    close() {
      clearInterval(timer);
    },
  };
}
