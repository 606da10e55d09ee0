import type { PlacementLog } from "./placement.ts";
import { PlacementError } from "./placement-error.ts";

/** What the pool has to know of the things that it keeps. */
export interface Warmable {
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

export interface WarmPoolOptions<T extends Warmable> {
  /** How many to keep waiting. */
  readonly size: number;
  /** How many may be started at the same time. More only take the processor from one another. */
  readonly maxStarting: number;
  /** How long to wait with a replacement, in milliseconds: its start would compete with the first steps of the session that was just served. */
  readonly quietMs: number;
  readonly log: PlacementLog;
  /** Leaves nothing behind when it rejects, or when the signal aborts. */
  readonly start: (signal: AbortSignal) => Promise<T>;
}

export interface WarmPool<T extends Warmable> {
  /** A waiting one, else the next that is ready. No two callers get the same. Rejects with `signal.reason`, with why a start failed, or when the pool is closed. */
  take(signal?: AbortSignal): Promise<T>;
  /** Whether one waits at this moment. */
  readonly hasWaiting: boolean;
  /** Tells that now is a good moment for a replacement: a session has ended. */
  refill(): void;
  /** Resolves when `size` are waiting. */
  full(): Promise<void>;
  /** Ends those that wait or are being started; callers that wait are rejected. */
  close(): Promise<void>;
}

const firstRetryMs = 500;
const lastRetryMs = 30_000;

interface Taker<T> {
  readonly resolve: (taken: T) => void;
  readonly reject: (reason: unknown) => void;
}

/** Keeps instances waiting, and starts new ones when there are more callers than instances. */
export function createWarmPool<T extends Warmable>({ size, maxStarting, quietMs, log, start }: WarmPoolOptions<T>): WarmPool<T> {
  const waiting: T[] = [];
  const starting = new Map<AbortController, Promise<void>>();
  /** Those that are being started, and those that are being ended because nobody wants them any more. */
  const unsettled = new Set<Promise<void>>();
  const takers: Taker<T>[] = [];
  const watchers: Taker<void>[] = [];
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let closed = false;

  function startOne(): void {
    const controller = new AbortController();
    // Off the list before anybody hears of it, who may then ask how many are missing.
    const begun = start(controller.signal)
      .finally(() => starting.delete(controller))
      .then(
        (started) => {
          failures = 0;
          return offer(started);
        },
        (error: unknown) => {
          if (controller.signal.aborted) return;
          failures += 1;
          const taker = takers.shift();
          taker?.reject(error);
          if (taker === undefined) log.warn({ error: String(error), failures }, "An instance that was to wait for a session could not be started.");
        },
      )
      .finally(() => {
        unsettled.delete(begun);
        startForTakers();
        plan(retryMs());
      });
    starting.set(controller, begun);
    unsettled.add(begun);
  }

  async function offer(started: T): Promise<void> {
    const taker = takers.shift();
    if (taker !== undefined) {
      taker.resolve(started);
      return;
    }
    if (closed || waiting.length >= size) {
      await started.stop();
      return;
    }
    waiting.push(started);
    void started.ended.then(() => {
      const index = waiting.indexOf(started);
      if (index < 0) return;
      waiting.splice(index, 1);
      failures += 1;
      log.warn({ failures }, "An instance ended while it waited for a session.");
      plan(retryMs());
    });
    if (waiting.length >= size) for (const watcher of watchers.splice(0)) watcher.resolve();
  }

  function startForTakers(): void {
    while (!closed && starting.size < takers.length && starting.size < maxStarting) startOne();
  }

  function startWaiting(): void {
    while (!closed && starting.size < takers.length + size - waiting.length && starting.size < maxStarting) startOne();
  }

  function retryMs(): number {
    return failures === 0 ? quietMs : Math.min(lastRetryMs, firstRetryMs * 2 ** (failures - 1));
  }

  function plan(afterMs: number): void {
    if (closed || timer !== undefined || starting.size >= takers.length + size - waiting.length) return;
    timer = setTimeout(() => {
      timer = undefined;
      startWaiting();
    }, afterMs);
    timer.unref();
  }

  startWaiting();

  return {
    take(signal) {
      if (closed) return Promise.reject(closedError());
      if (signal?.aborted === true) return Promise.reject(asError(signal.reason));
      const first = waiting.shift();
      if (first !== undefined) {
        plan(retryMs());
        return Promise.resolve(first);
      }
      return new Promise((resolve, reject) => {
        const taker: Taker<T> = {
          resolve(taken) {
            signal?.removeEventListener("abort", giveUp);
            resolve(taken);
          },
          reject(reason) {
            signal?.removeEventListener("abort", giveUp);
            reject(asError(reason));
          },
        };
        const giveUp = (): void => {
          const index = takers.indexOf(taker);
          if (index < 0) return;
          takers.splice(index, 1);
          const surplus = starting.size - takers.length - Math.max(0, size - waiting.length);
          const ending = surplus > 0 ? [...starting].at(-1) : undefined;
          ending?.[0].abort();
          // Only when nothing is left of what was being started for it.
          void (ending?.[1] ?? Promise.resolve()).then(() => {
            reject(asError(signal?.reason));
          });
        };
        signal?.addEventListener("abort", giveUp, { once: true });
        takers.push(taker);
        startForTakers();
      });
    },
    get hasWaiting() {
      return waiting.length > 0;
    },
    refill() {
      if (failures > 0) return;
      clearTimeout(timer);
      timer = undefined;
      startWaiting();
    },
    full() {
      if (closed) return Promise.reject(closedError());
      if (waiting.length >= size) return Promise.resolve();
      return new Promise((resolve, reject) => watchers.push({ resolve, reject }));
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      timer = undefined;
      for (const taker of takers.splice(0)) taker.reject(closedError());
      for (const watcher of watchers.splice(0)) watcher.reject(closedError());
      for (const controller of starting.keys()) controller.abort();
      await Promise.all([...unsettled, ...waiting.splice(0).map((each) => each.stop())]);
    },
  };
}

function closedError(): PlacementError {
  return new PlacementError("closed", "The placement is closed: the service is shutting down.");
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
