import { anySignal } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { setTimeout as delay } from "node:timers/promises";
import { CdpError } from "../../../browser/cdp/cdp-connection.ts";
import type { FollowedPage } from "../follow/followed-page.ts";
import { browserCrashed, cannotOpen, pageCrashed, tooLate } from "./render-errors.ts";

/** With `best_attempt`, the outputs have this part of the time. */
const outputShare = 0.25;
const maxOutputMs = 10_000;

/** The time of loading is over. */
export class OutOfTime extends ServiceError {}

/** The limits of one rendering: its time, its caller, and the life of its page. */
export class RenderClock {
  readonly signal: AbortSignal;
  readonly #page: FollowedPage;
  readonly #timeoutMs: number;
  readonly #loadedByMs: number;
  readonly #endMs: number;
  readonly #url: string;
  readonly #crash = Promise.withResolvers<never>();
  readonly #stopped = new AbortController();

  constructor(
    page: FollowedPage,
    of: {
      readonly url: string;
      readonly timeoutMs: number;
      readonly bestAttempt: boolean;
      readonly signal: AbortSignal;
    },
  ) {
    const reserve = of.bestAttempt ? Math.min(maxOutputMs, of.timeoutMs * outputShare) : 0;
    const nowMs = performance.now();
    this.#page = page;
    this.#url = of.url;
    this.#timeoutMs = of.timeoutMs;
    this.#endMs = nowMs + of.timeoutMs;
    this.#loadedByMs = this.#endMs - reserve;
    this.signal = of.signal;
    this.#crash.promise.catch(() => undefined);
    page.on("Inspector.targetCrashed", (_event, { parent }) => {
      if (parent === undefined) this.#crash.reject(pageCrashed(this.#url));
    });
    void page.session.end.then(() => {
      this.#crash.reject(browserCrashed());
    });
  }

  /** Milliseconds left for loading and waiting. */
  get loadMs(): number {
    return this.#loadedByMs - performance.now();
  }

  /** @throws {OutOfTime} with this condition after the time for loading, {ServiceError} if the page or browser ends. */
  async load<T>(work: Promise<T>, condition: string): Promise<T> {
    return this.#within(work, Math.max(0, this.loadMs), () => {
      const { code, hint, limit, problem, status } = tooLate(condition, this.#timeoutMs);
      return new OutOfTime(status, code, problem, { hint, limit });
    });
  }

  /** The same, with the time for everything. */
  async read<T>(work: Promise<T>, what: string): Promise<T> {
    const leftMs = Math.max(0, this.#endMs - performance.now());
    return this.#within(work, leftMs, () => ServiceError.of(tooLate(`${what} was not ready`, this.#timeoutMs)));
  }

  async pause(milliseconds: number): Promise<void> {
    await this.#within(delay(milliseconds, undefined, { signal: this.#stopped.signal }), milliseconds + 1_000, () =>
      browserCrashed(),
    );
  }

  close(): void {
    this.#stopped.abort();
  }

  async #within<T>(work: Promise<T>, milliseconds: number, late: () => Error): Promise<T> {
    this.signal.throwIfAborted();
    work.catch(() => undefined);
    const done = new AbortController();
    const timer = delay(milliseconds, undefined, { signal: anySignal([done.signal, this.signal]) }).then(
      () => {
        throw late();
      },
      () => {
        this.signal.throwIfAborted();
        // Only to end the race, which is over.
        return new Promise<never>(() => undefined);
      },
    );
    timer.catch(() => undefined);
    try {
      return await Promise.race([work, timer, this.#crash.promise]);
    } catch (error) {
      if (!(error instanceof CdpError)) throw error;
      // The failure of a command may arrive before the end of the page.
      await new Promise((resolve) => setImmediate(resolve));
      throw this.#page.session.ended ? browserCrashed(error) : cannotOpen(this.#url, error.message);
    } finally {
      done.abort();
    }
  }
}
