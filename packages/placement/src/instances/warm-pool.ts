import { errorOf } from "@shoal/primitives";
import { PlacementError } from "../interface/placement-error.ts";
import type { WarmInstances } from "../interface/placement.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import type { WarmSizing } from "./warm-sizing.ts";

export interface Warmable {
  /** Called when the instance begins to wait. Never rejects. */
  rehearse(): Promise<void>;
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

export interface WarmPoolOptions<T extends Warmable> {
  readonly sizing: WarmSizing;
  readonly maxStarting: number;
  /** Milliseconds before a replacement starts, which would compete with the first steps of the new session. */
  readonly quietMs: number;
  readonly log: PlacementLog;
  /** Must remove all processes and files when it rejects or the signal aborts. */
  readonly start: (signal: AbortSignal) => Promise<T>;
}

const firstRetryMs = 500;
const lastRetryMs = 30_000;

interface Taker<T> {
  readonly resolve: (taken: T) => void;
  readonly reject: (reason: Error) => void;
}

/** Starts more instances than the target when callers wait. */
export class WarmPool<T extends Warmable> {
  readonly #options: WarmPoolOptions<T>;
  readonly #waiting: T[] = [];
  readonly #starting = new Map<AbortController, Promise<void>>();
  /** Starts that have not settled, and surplus instances that are stopping. */
  readonly #unsettled = new Set<Promise<void>>();
  readonly #takers: Taker<T>[] = [];
  readonly #watchers: Taker<void>[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #checks: NodeJS.Timeout | undefined;
  #takenAtMs = -Infinity;
  #failures = 0;
  #hits = 0;
  #misses = 0;
  #isClosed = false;

  constructor(options: WarmPoolOptions<T>) {
    this.#options = options;
    const { checkMs } = options.sizing;
    this.#checks =
      checkMs === undefined
        ? undefined
        : setInterval(() => {
            this.#check();
          }, checkMs).unref();
    this.#startWaiting();
  }

  counts(): WarmInstances {
    return {
      target: this.#target,
      ready: this.#waiting.length,
      starting: this.#starting.size,
      hits: this.#hits,
      misses: this.#misses,
    };
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Rejects with `signal.reason`, the error of a failed start, or `closed`. */
  take(signal?: AbortSignal): Promise<T> {
    if (this.#isClosed) return Promise.reject(closedError());
    if (signal?.aborted === true) return Promise.reject(errorOf(signal.reason));
    const first = this.#waiting.shift();
    this.#takenAtMs = performance.now();
    this.#options.sizing.created(this.#waiting.length);
    if (first !== undefined) {
      this.#hits += 1;
      this.#plan();
      return Promise.resolve(first);
    }
    this.#misses += 1;
    return this.#queue(signal);
  }

  /** Does nothing while starts fail. */
  refill(): void {
    if (this.#failures > 0) return;
    this.#cancelPlan();
    this.#startWaiting();
  }

  full(): Promise<void> {
    if (this.#isClosed) return Promise.reject(closedError());
    if (this.#waiting.length >= this.#target) return Promise.resolve();
    return new Promise((resolve, reject) => this.#watchers.push({ resolve, reject }));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelPlan();
    clearInterval(this.#checks);
    for (const taker of this.#takers.splice(0)) taker.reject(closedError());
    for (const watcher of this.#watchers.splice(0)) watcher.reject(closedError());
    for (const controller of this.#starting.keys()) controller.abort();
    await Promise.all([...this.#unsettled, ...this.#waiting.splice(0).map((each) => each.stop())]);
  }

  #queue(signal: AbortSignal | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const taker: Taker<T> = {
        resolve(taken) {
          signal?.removeEventListener("abort", giveUp);
          resolve(taken);
        },
        reject(reason) {
          signal?.removeEventListener("abort", giveUp);
          reject(reason);
        },
      };
      const giveUp = (): void => {
        const index = this.#takers.indexOf(taker);
        if (index < 0) return;
        this.#takers.splice(index, 1);
        void this.#endSurplus().then(() => {
          reject(errorOf(signal?.reason));
        });
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      this.#takers.push(taker);
      this.#startForTakers();
    });
  }

  /** Aborts the latest start if no caller and no waiting place needs it. */
  #endSurplus(): Promise<void> {
    const surplus = this.#starting.size - this.#takers.length - Math.max(0, this.#target - this.#waiting.length);
    const latest = surplus > 0 ? [...this.#starting].at(-1) : undefined;
    if (latest === undefined) return Promise.resolve();
    const [controller, settled] = latest;
    controller.abort();
    return settled;
  }

  #startOne(): void {
    const controller = new AbortController();
    const beganMs = performance.now();
    const begun = this.#options
      .start(controller.signal)
      // First, because the next steps count the missing instances.
      .finally(() => this.#starting.delete(controller))
      .then(
        (started) => {
          this.#failures = 0;
          this.#options.sizing.started(performance.now() - beganMs);
          return this.#offer(started);
        },
        (error: unknown) => {
          if (!controller.signal.aborted) this.#onFailedStart(error);
        },
      )
      .finally(() => {
        this.#unsettled.delete(begun);
        this.#startForTakers();
        this.#plan();
      });
    this.#starting.set(controller, begun);
    this.#unsettled.add(begun);
  }

  #onFailedStart(error: unknown): void {
    this.#failures += 1;
    const taker = this.#takers.shift();
    taker?.reject(errorOf(error));
    if (taker === undefined)
      this.#options.log.warn({ error: String(error), failures: this.#failures }, "A warm instance failed to start.");
  }

  async #offer(started: T): Promise<void> {
    const taker = this.#takers.shift();
    if (taker !== undefined) {
      taker.resolve(started);
      return;
    }
    if (this.#isClosed || this.#waiting.length >= this.#target) {
      await started.stop();
      return;
    }
    this.#waiting.push(started);
    void started.rehearse();
    void started.ended.then(() => {
      this.#onEnded(started);
    });
    this.#notifyWatchers();
  }

  /** Follows a target that changed. */
  #check(): void {
    this.#options.sizing.check(this.#waiting.length);
    while (this.#waiting.length > this.#target) this.#stop(this.#waiting.shift());
    this.#notifyWatchers();
    this.#plan();
  }

  #stop(instance: T | undefined): void {
    const stopped = instance?.stop();
    if (stopped === undefined) return;
    this.#unsettled.add(stopped);
    void stopped.finally(() => this.#unsettled.delete(stopped));
  }

  #notifyWatchers(): void {
    if (this.#waiting.length >= this.#target) for (const watcher of this.#watchers.splice(0)) watcher.resolve();
  }

  #onEnded(instance: T): void {
    const index = this.#waiting.indexOf(instance);
    if (index < 0) return;
    this.#waiting.splice(index, 1);
    this.#failures += 1;
    this.#options.log.warn({ failures: this.#failures }, "A warm instance ended before any session used it.");
    this.#plan();
  }

  #startForTakers(): void {
    while (!this.#isClosed && this.#starting.size < this.#takers.length && this.#mayStart()) this.#startOne();
  }

  #startWaiting(): void {
    const waiting = this.#takers.length;
    const refills = this.#options.sizing.refills(waiting, this.#waiting.length);
    while (!this.#isClosed && this.#isShort() && this.#mayStart() && this.#starting.size - waiting < refills)
      this.#startOne();
  }

  get #target(): number {
    return this.#options.sizing.target;
  }

  #mayStart(): boolean {
    return this.#starting.size < this.#options.maxStarting;
  }

  #isShort(): boolean {
    return this.#starting.size < this.#takers.length + this.#target - this.#waiting.length;
  }

  #plan(): void {
    if (this.#isClosed || this.#timer !== undefined || !this.#isShort()) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#startWaiting();
    }, this.#delayMs());
    this.#timer.unref();
  }

  #delayMs(): number {
    if (this.#failures === 0) return Math.max(0, this.#takenAtMs + this.#options.quietMs - performance.now());
    return Math.min(lastRetryMs, firstRetryMs * 2 ** (this.#failures - 1));
  }

  #cancelPlan(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

function closedError(): PlacementError {
  return new PlacementError("closed", "The placement is closed because the service is shutting down.");
}
