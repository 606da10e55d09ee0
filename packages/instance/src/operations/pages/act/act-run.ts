import { setTimeout as wait } from "node:timers/promises";
import pTimeout from "p-timeout";
import { CdpError } from "../../../browser/cdp/cdp-connection.ts";
import type { ElementHandle } from "../follow/element-handle.ts";
import type { CommandSender, FollowedPage } from "../follow/followed-page.ts";
import type { Point } from "../follow/points.ts";

/** The page stopped answering before the command's result: it opened a dialog, closed, or is busy. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly kind: "dialog" | "gone" | "silent";

  constructor(kind: Interrupted["kind"]) {
    super(kind);
    this.kind = kind;
  }
}

/** A page that can answer does so within this time, in milliseconds. */
const leastAnswerMs = 600;

/** The same for reading a whole page. */
const leastWorkMs = 2_000;

/** One action on a page: its time limit, its caller, and whether it has sent input. */
export class ActRun implements CommandSender {
  readonly page: FollowedPage;
  readonly signal: AbortSignal;
  /** The reference of the request, if the page has replaced its element. */
  replacedRef: string | undefined;
  /** Called when the element of the action is found, also again. */
  onFound: ((element: ElementHandle) => void) | undefined;
  /** Resolves when the page is watched for effects of the input. */
  prepared: Promise<void> = Promise.resolve();
  /** Rejects if the element did not receive its input; the actor awaits it with the effects. */
  verified: Promise<void> = Promise.resolve();
  /** Where the pointer went last. */
  point: Point | undefined;
  /** When the first input was sent, on the clock of `performance.now()`. */
  #begunAtMs: number | undefined;
  readonly #endMs: number;
  readonly #leastAnswerMs: number;

  /** @param limits.answerMs - a page is given this time for each answer, also after the time limit. */
  constructor(
    page: FollowedPage,
    limits: { readonly signal: AbortSignal; readonly timeoutMs: number; readonly answerMs?: number },
  ) {
    const { answerMs = leastAnswerMs, signal, timeoutMs } = limits;
    this.page = page;
    this.signal = signal;
    this.#leastAnswerMs = answerMs;
    this.#endMs = performance.now() + timeoutMs;
  }

  /** From here on, an interruption is an effect of the action. */
  get hasBegun(): boolean {
    return this.#begunAtMs !== undefined;
  }

  set hasBegun(hasBegun: boolean) {
    if (hasBegun) this.#begunAtMs ??= performance.now();
  }

  get begunAtMs(): number | undefined {
    return this.#begunAtMs;
  }

  get leftMs(): number {
    return this.#endMs - performance.now();
  }

  /**
   * Waits for a command's answer until the time limit, at least `leastMs`. Returns `undefined` when the browser rejects
   * the command, because its element or document has gone. @throws {Interrupted | ServiceError}
   */
  async ask<T>(command: Promise<T>, leastMs = this.#leastAnswerMs): Promise<T | undefined> {
    // The caller may leave before the command ends.
    const answered = command.catch((error: unknown) => {
      if (error instanceof CdpError) return undefined;
      throw error;
    });
    this.signal.throwIfAborted();
    const outcome = await this.page.session.outcome(answered, Math.max(leastMs, this.leftMs));
    this.signal.throwIfAborted();
    if (outcome.kind !== "done") throw new Interrupted(outcome.kind);
    if (outcome.result === undefined && this.page.session.ended) throw new Interrupted("gone");
    return outcome.result;
  }

  /** Waits for work with several commands like {@link ActRun.ask}. */
  async within<T>(work: Promise<T>): Promise<T> {
    const late = (): never => {
      throw new Interrupted(this.page.session.dialog === undefined ? "silent" : "dialog");
    };
    return pTimeout(work, { milliseconds: Math.max(leastWorkMs, this.leftMs), fallback: late, signal: this.signal });
  }

  /** Waits, but not longer than until the time limit. */
  async pause(milliseconds: number): Promise<void> {
    await wait(Math.max(0, Math.min(milliseconds, this.leftMs)), undefined, { signal: this.signal });
  }
}
