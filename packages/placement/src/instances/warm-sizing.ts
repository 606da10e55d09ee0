import type { CpuIdle } from "../host/cpu-idle.ts";
import { nextWarmSize, refillsAllowed, type WarmSizeLimits, type WarmSizeState } from "./warm-size.ts";

/** Decides how many instances wait, and how many of their starts run at once. */
export interface WarmSizing {
  readonly target: number;
  /** Milliseconds between calls of {@link check}; `undefined` = the size never changes. */
  readonly checkMs?: number;
  created(ready: number): void;
  /** @param tookMs - duration of a start. */
  started(tookMs: number): void;
  check(ready: number): void;
  /** Refills that may run at once. */
  refills(waitingCalls: number, ready: number): number;
}

export class FixedWarmSize implements WarmSizing {
  readonly target: number;

  constructor(target: number) {
    this.target = target;
  }

  created(): void {
    // The size is fixed.
  }

  started(): void {
    // The size is fixed.
  }

  check(): void {
    // The size is fixed.
  }

  refills(): number {
    return Infinity;
  }
}

export interface AutoWarmSizeParts extends WarmSizeLimits {
  /** Milliseconds before a refill starts; part of the refill time. */
  readonly quietMs: number;
  readonly cpu: Pick<CpuIdle, "idleShare">;
  readonly availableBytes: () => number;
  readonly machineBytes: number;
  readonly cores: number;
}

const firstStartMs = 500;
/** Starts on a busy machine take longer. Without a limit, that would raise the target and make it busier. */
const longestStartMs = 2_000;
/** Share of the latest start in the average. */
const latestShare = 0.2;

/** Keeps as many instances as sessions are created in the time that a refill takes. */
export class AutoWarmSize implements WarmSizing {
  readonly checkMs = 1_000;
  readonly #parts: AutoWarmSizeParts;
  /** Times of recent creates, oldest first. */
  #createdAtMs: number[] = [];
  #startMs = firstStartMs;
  #startedAtMs = -Infinity;
  #state: WarmSizeState;

  constructor(parts: AutoWarmSizeParts) {
    this.#parts = parts;
    this.#state = nextWarmSize({ target: 0, quietChecks: 0 }, this.#facts(0), parts);
  }

  get target(): number {
    return this.#state.target;
  }

  created(ready: number): void {
    this.#createdAtMs.push(performance.now());
    // Never a quiet check, because shrinking counts those.
    if (this.#facts(ready).created >= this.target) this.check(ready);
  }

  started(tookMs: number): void {
    this.#startedAtMs = performance.now();
    this.#startMs += latestShare * (Math.min(tookMs, longestStartMs) - this.#startMs);
  }

  check(ready: number): void {
    this.#state = nextWarmSize(this.#state, this.#facts(ready), this.#parts);
  }

  refills(waitingCalls: number, ready: number): number {
    const { cores, cpu } = this.#parts;
    const sinceStartMs = performance.now() - this.#startedAtMs;
    return refillsAllowed({ waitingCalls, ready, cores, idleShare: cpu.idleShare(), sinceStartMs });
  }

  #facts(ready: number) {
    const { availableBytes, machineBytes, quietMs } = this.#parts;
    const since = performance.now() - quietMs - this.#startMs;
    this.#createdAtMs = this.#createdAtMs.filter((at) => at >= since);
    return { created: this.#createdAtMs.length, ready, availableBytes: availableBytes(), machineBytes };
  }
}
