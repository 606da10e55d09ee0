import type { Duplex } from "node:stream";
import type { InstanceSleep } from "../../interface/sleep.ts";

export interface AnswerWatchOptions {
  /** Asks the instance for something that it answers at once. Any end of it but an abort shows that the instance runs. */
  readonly ask: (signal: AbortSignal) => Promise<unknown>;
  /** Ends the instance. Called once. */
  readonly distrust: (why: string) => void;
  /** Milliseconds to the first question, and for each answer; 30,000 by default. */
  readonly everyMs?: number | undefined;
  /** A sleeping instance answers nothing. */
  readonly sleep?: Pick<InstanceSleep, "onChange"> | undefined;
}

const usuallyEveryMs = 30_000;
/** More than one: after a pause of this process, the time of a question is over before its answer is read. */
const maxUnanswered = 3;

/**
 * Finds an instance that answers nothing although callers wait for it. A program of a session can stop its instance, or
 * take it over. Asks nothing while no caller waits.
 */
export class AnswerWatch {
  readonly #options: AnswerWatchOptions;
  readonly #everyMs: number;
  #waiting = 0;
  /** A caller left before its answer. */
  #isOwed = false;
  #holds = 0;
  /** An unanswered question from before the last hold says nothing. */
  #holdsBegun = 0;
  #unanswered = 0;
  #isAsking = false;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AnswerWatchOptions) {
    this.#options = options;
    this.#everyMs = options.everyMs ?? usuallyEveryMs;
    let release: (() => void) | undefined;
    options.sleep?.onChange(({ type }) => {
      if (type === "asleep") release = this.hold();
      else release?.();
    });
  }

  /** A caller waits. @returns ends the wait; only the first call counts. */
  begin(): (isAnswered: boolean) => void {
    this.#waiting += 1;
    this.#arm();
    let isDone = false;
    return (isAnswered) => {
      if (isDone) return;
      isDone = true;
      this.#waiting -= 1;
      if (isAnswered) this.#noteAnswer();
      else this.#isOwed = true;
    };
  }

  /** Its client may wait for the instance until it closes. */
  followConnection(connection: Pick<Duplex, "once">): void {
    const endWait = this.begin();
    connection.once("close", () => {
      endWait(true);
    });
  }

  /** The service itself keeps the instance from answering. @returns ends that; only the first call counts. */
  hold(): () => void {
    this.#holds += 1;
    this.#holdsBegun += 1;
    let isDone = false;
    return () => {
      if (!isDone) this.#holds -= 1;
      isDone = true;
    };
  }

  close(): void {
    this.#isOver = true;
    this.#disarm();
  }

  #noteAnswer(): void {
    this.#isOwed = false;
    this.#unanswered = 0;
    if (this.#waiting === 0) this.#disarm();
  }

  /** Keeps the time of the first caller. */
  #arm(afterMs = this.#everyMs): void {
    if (this.#isOver || this.#isAsking || this.#timer !== undefined) return;
    if (this.#waiting === 0 && !this.#isOwed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#look();
    }, afterMs).unref();
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    if (this.#holds === 0) {
      const holdsBegun = this.#holdsBegun;
      this.#isAsking = true;
      const isAnswered = await this.#ask();
      this.#isAsking = false;
      if (isAnswered || holdsBegun !== this.#holdsBegun) this.#noteAnswer();
      else this.#unanswered += 1;
      if (this.#unanswered >= maxUnanswered) this.#distrust();
    }
    this.#arm(this.#unanswered > 0 ? 0 : this.#everyMs);
  }

  #distrust(): void {
    if (this.#isOver) return;
    this.close();
    const seconds = String((maxUnanswered * this.#everyMs) / 1000);
    this.#options.distrust(
      `The instance was ended: it answered nothing for ${seconds} s. A program of the session may have stopped it.`,
    );
  }

  async #ask(): Promise<boolean> {
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort(new Error("The instance did not answer in time."));
    }, this.#everyMs).unref();
    await this.#options.ask(late.signal).catch(() => undefined);
    clearTimeout(timer);
    return !late.signal.aborted;
  }
}
