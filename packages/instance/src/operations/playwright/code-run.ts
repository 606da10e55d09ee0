import type { CodeTab, OutputChannel, Outcome, RunMessage } from "./messages.ts";
import type { WorkerProcess } from "./worker-process.ts";

export const maxOutputCharacters = 2 ** 20;

export interface CodeRunOptions {
  readonly worker: WorkerProcess;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
  readonly onStop: () => void;
  readonly beforeClose: () => Promise<void>;
  readonly onTab: (tab: CodeTab) => void;
}

export class CodeRun implements Disposable {
  readonly output = { stdout: "", stderr: "" };
  readonly #options: CodeRunOptions;
  readonly #timer: NodeJS.Timeout;
  #stopReason: string | undefined;
  #isCut = false;

  constructor(options: CodeRunOptions) {
    this.#options = options;
    this.#timer = setTimeout(() => {
      this.stop(`The code did not end within ${String(options.timeoutSeconds)} s (timeout_sec) and was stopped.`);
    }, options.timeoutSeconds * 1000);
    options.signal.addEventListener("abort", this.#cut, { once: true });
  }

  get stopReason(): string | undefined {
    return this.#stopReason;
  }

  /** Whether it was stopped because the client disconnected. */
  get isCut(): boolean {
    return this.#isCut;
  }

  run(message: RunMessage): Promise<{ readonly outcome: Outcome; readonly clean: boolean }> {
    return this.#options.worker.run(message, {
      onOutput: (channel: OutputChannel, text) => {
        const room = maxOutputCharacters - this.output[channel].length;
        // Each cut of the whole would copy it, and code may print on for long.
        if (room > 0) this.output[channel] += text.slice(0, room);
      },
      beforeClose: this.#options.beforeClose,
      onTab: this.#options.onTab,
    });
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener("abort", this.#cut);
  }

  readonly #cut = (): void => {
    this.#isCut = this.#stopReason === undefined;
    this.stop("The code was stopped: the client is gone.");
  };

  /** The answer to the call has this reason. */
  stop(reason: string): void {
    this.#stopReason ??= reason;
    this.#options.onStop();
  }
}
