import type { RestQuestion, RestReport } from "@shoal/instance";
import type { BoxFreezer } from "../host/freezer.ts";
import { PlacementError } from "../interface/placement-error.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import type { InstanceSleep, SleepChange } from "../interface/sleep.ts";

export interface SleeperParts {
  readonly freezer: Omit<BoxFreezer, "remove">;
  /** Asks the instance whether it may be frozen. */
  readonly ask: (question: RestQuestion) => Promise<RestReport>;
  /** The instance cannot be continued. */
  readonly onStuck: (error: unknown) => void;
  readonly log: Pick<PlacementLog, "debug" | "warn">;
  readonly pageOutAfterMs?: number;
}

/** A session that wakes at once should not pay for moved memory. */
const pageOutAfterMs = 3_000;
/** Until an instance that was busy is asked again. */
const askAgainMs = 5_000;
/** For several requests of a monitor. */
const afterVisitMs = 250;
const longestTimerMs = 2_147_483_647;

/**
 * Decides when an instance is frozen. Freezing and thawing are synchronous, and bytes stay in the sockets of a frozen
 * instance, so that a byte is never lost: it either prevents the freeze, or thaws.
 */
export class Sleeper implements InstanceSleep {
  readonly #parts: SleeperParts;
  readonly #listeners = new Set<(change: SleepChange) => void>();
  #state: "awake" | "asking" | "asleep" | "closed" = "awake";
  #afterMs = 0;
  #uses = 0;
  #lastUseMs = performance.now();
  #touches = 0;
  /** When the instance recorded its sleep. Kept until the next use: telemetry does not show visits. */
  #recordedMs: number | undefined;
  #asleepSince: { readonly wallMs: number; readonly monotonicMs: number } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #pageOutTimer: NodeJS.Timeout | undefined;

  constructor(parts: SleeperParts) {
    this.#parts = parts;
  }

  get asleepSinceMs(): number | undefined {
    return this.#asleepSince?.wallMs;
  }

  after(seconds: number): void {
    this.#afterMs = seconds * 1000;
    this.touch();
    if (this.#state === "awake") this.#arm(this.#afterMs);
  }

  touch(): void {
    this.#lastUseMs = performance.now();
    this.#touches++;
    this.#endSleep();
  }

  /**
   * Counts a use until the returned function is called, which may happen twice.
   * @param isVisit - wakes the instance, which then sleeps again as if it had not been used.
   */
  begin(isVisit = false): () => void {
    this.#uses++;
    if (!isVisit) this.touch();
    else if (this.#state === "asleep") this.#wake(undefined);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#uses--;
      if (!isVisit) this.touch();
      else if (this.#state === "awake") this.#arm(afterVisitMs);
    };
  }

  onChange(listener: (change: SleepChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The instance has ended. */
  close(): void {
    const asleep = this.#asleepSince;
    this.#state = "closed";
    this.#clearTimers();
    this.#asleepSince = undefined;
    if (asleep !== undefined) this.#tell({ type: "awake", sleptMs: performance.now() - asleep.monotonicMs });
    this.#listeners.clear();
  }

  #arm(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer =
      this.#afterMs === 0
        ? undefined
        : setTimeout(
            () => {
              this.#onTimer();
            },
            Math.min(delayMs, longestTimerMs),
          ).unref();
  }

  /** Not reset by each byte: it looks at the time of the last one. */
  #onTimer(): void {
    if (this.#state !== "awake") return;
    const restMs = this.#afterMs - (performance.now() - this.#lastUseMs);
    if (this.#uses > 0) this.#arm(this.#afterMs);
    else if (restMs > 0) this.#arm(restMs);
    else void this.#ask();
  }

  async #ask(): Promise<void> {
    const { ask, freezer, log } = this.#parts;
    this.#state = "asking";
    const touches = this.#touches;
    const isNew = this.#recordedMs === undefined;
    let rest: RestReport | undefined;
    try {
      await freezer.prepare();
      rest = await ask(isNew ? { idle_ms: Math.round(performance.now() - this.#lastUseMs) } : {});
    } catch (error) {
      log.debug({ error: String(error) }, "An instance could not be asked whether it may sleep.");
    }
    // A function, so that TypeScript does not narrow across the `await`.
    if (this.#isClosed()) return;
    this.#state = "awake";
    const isUsed = touches !== this.#touches;
    if (isNew && rest?.busy === null) {
      this.#recordedMs = performance.now();
      if (isUsed) this.#endSleep();
    }
    if (isUsed || this.#uses > 0) this.#arm(this.#afterMs);
    else if (rest?.busy !== null) this.#arm(Math.min(this.#afterMs, askAgainMs));
    else if (this.#afterMs > 0) this.#sleep(rest.expires_in_ms);
  }

  #sleep(expiresInMs: number | null): void {
    const { freezer, log } = this.#parts;
    try {
      freezer.freeze();
    } catch (error) {
      log.warn({ error: String(error) }, "An instance could not be frozen.");
      this.#arm(Math.max(this.#afterMs, askAgainMs));
      return;
    }
    this.#state = "asleep";
    const asleep = { wallMs: Date.now(), monotonicMs: performance.now() };
    this.#asleepSince = asleep;
    // Its own timer ends the session once it runs again.
    if (expiresInMs !== null)
      this.#deadline = setTimeout(
        () => {
          this.touch();
        },
        Math.min(expiresInMs, longestTimerMs),
      ).unref();
    this.#pageOutTimer = setTimeout(() => {
      void freezer
        .pageOut(() => this.#asleepSince === asleep)
        .catch((error: unknown) => {
          log.debug({ error: String(error) }, "The memory of a frozen instance could not be paged out.");
        });
    }, this.#parts.pageOutAfterMs ?? pageOutAfterMs).unref();
    this.#tell({ type: "asleep", sinceMs: asleep.wallMs });
  }

  #endSleep(): void {
    const recordedMs = this.#recordedMs;
    const slept =
      recordedMs === undefined ? undefined : { ms: Math.round(performance.now() - recordedMs), until_ms: Date.now() };
    this.#recordedMs = undefined;
    if (this.#state === "asleep") this.#wake(slept);
    else if (slept !== undefined) this.#parts.ask({ slept }).catch(() => undefined);
  }

  #wake(slept: RestQuestion["slept"]): void {
    const beganMs = performance.now();
    const { ask, freezer, onStuck } = this.#parts;
    const sleptMs = beganMs - (this.#asleepSince?.monotonicMs ?? beganMs);
    this.#clearTimers();
    this.#state = "awake";
    this.#asleepSince = undefined;
    try {
      freezer.thaw();
    } catch (error) {
      onStuck(error);
      return;
    }
    this.#arm(this.#afterMs);
    this.#tell({ type: "awake", sleptMs });
    ask({ slept }).then(
      () => {
        this.#tell({ type: "answered", wakeMs: performance.now() - beganMs });
      },
      () => undefined,
    );
  }

  #tell(change: SleepChange): void {
    for (const listener of this.#listeners) listener(change);
  }

  #clearTimers(): void {
    for (const timer of [this.#timer, this.#deadline, this.#pageOutTimer]) clearTimeout(timer);
  }

  #isClosed(): boolean {
    return this.#state === "closed";
  }
}

/** Of an instance whose processes cannot be frozen. */
export const insomniac: InstanceSleep = {
  asleepSinceMs: undefined,
  after(seconds) {
    if (seconds > 0) throw new PlacementError("bad_option", "The processes of this instance cannot be frozen.");
  },
  touch: () => undefined,
  onChange: () => () => undefined,
};
