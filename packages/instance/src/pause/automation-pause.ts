import type { Refusal } from "../http/replies.ts";

/** A handoff of the session to a person. */
export interface ActiveHandoff {
  readonly id: string;
  readonly on_automation: "wait" | "refuse";
  readonly remaining_ms: number;
}

/** Below the usual timeouts of clients, so that they receive the reason. */
const maxWaitMs = 45_000;
const maxWaiting = 100;
/** For work that was stopped to end. */
const stopMs = 5_000;
const code = "handoff_active";
const hint = "Wait for its end with browsers.handoff.get, or end it with browsers.handoff.release.";
const message = `A person controls this session, or was asked to. Input and changes by programs are paused. ${hint}`;

/** The answer to programs while a person has the session. */
export const handoffRefusal: Refusal = { status: 409, code, message, hint };

/** For protocols whose errors have no field for the code. */
export const handoffMessage = `${code}: ${message}`;

interface Active {
  readonly handoff: ActiveHandoff;
  readonly over: PromiseWithResolvers<void>;
  readonly timer: NodeJS.Timeout;
  readonly finishUse: () => void;
}

interface RunningWork {
  readonly stop: AbortController;
  readonly done: Promise<unknown>;
}

/** Pauses programs while a person controls the session. The deadline also works without the service. */
export class AutomationPause {
  readonly #beginUse: () => () => void;
  readonly #running = new Set<RunningWork>();
  #active: Active | undefined;
  #waiting = 0;

  /** @param beginUse - a session with a handoff is in use. */
  constructor(beginUse: () => () => void) {
    this.#beginUse = beginUse;
  }

  get isActive(): boolean {
    return this.#active !== undefined;
  }

  get refuses(): boolean {
    return this.#active?.handoff.on_automation === "refuse";
  }

  /** Stops running work, so that nothing changes pages after it resolves. */
  async begin(handoff: ActiveHandoff): Promise<void> {
    if (this.#active?.handoff.id === handoff.id) return;
    this.#finish();
    const timer = setTimeout(() => {
      this.end(handoff.id);
    }, handoff.remaining_ms);
    this.#active = { handoff, over: Promise.withResolvers<void>(), timer, finishUse: this.#beginUse() };
    const stopped = [...this.#running].map(({ done, stop }) => {
      stop.abort();
      return done;
    });
    const late = Promise.withResolvers<void>();
    const lateTimer = setTimeout(late.resolve, stopMs);
    await Promise.race([Promise.allSettled(stopped), late.promise]);
    clearTimeout(lateTimer);
  }

  /** Does nothing if another handoff is active. */
  end(id: string): void {
    if (this.#active?.handoff.id === id) this.#finish();
  }

  /** Resolves when no handoff is active. */
  async whenOver(): Promise<void> {
    while (this.#active !== undefined) await this.#active.over.promise;
  }

  /** Waits for the end of a handoff, at most 45 s. @returns a refusal if the caller must not continue. */
  async admit(signal?: AbortSignal): Promise<Refusal | undefined> {
    if (this.#active === undefined) return undefined;
    if (this.refuses || this.#waiting >= maxWaiting) return handoffRefusal;
    this.#waiting += 1;
    const stopped = Promise.withResolvers<void>();
    const timer = setTimeout(stopped.resolve, maxWaitMs);
    const onAbort = () => {
      stopped.resolve();
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      await Promise.race([this.whenOver(), stopped.promise]);
    } finally {
      this.#waiting -= 1;
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
    // Read again: it may have changed during the wait.
    return this.isActive ? handoffRefusal : undefined;
  }

  /** Runs work that the beginning of a handoff stops. @param work - must follow the signal. */
  async run<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const stop = new AbortController();
    const done = work(stop.signal);
    const entry = { stop, done };
    this.#running.add(entry);
    try {
      return await done;
    } finally {
      this.#running.delete(entry);
    }
  }

  #finish(): void {
    const active = this.#active;
    if (active === undefined) return;
    this.#active = undefined;
    clearTimeout(active.timer);
    active.finishUse();
    active.over.resolve();
  }
}
