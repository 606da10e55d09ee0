import { ServiceError } from "@shoal/router";
import type { ReplResult } from "@shoal/schemas";
import type { BrowserEndpoint } from "../../browser/chromium/browser.ts";
import { Turns } from "../../system/turns.ts";
import { processStartError } from "../playwright/process-limit.ts";
import { ReplProcess, type ReplProcessOptions } from "./repl-process.ts";

const maxWaiting = 32;
const startTimeoutMs = 30_000;
const endpointTimeoutMs = 5_000;

export interface ReplOptions {
  readonly start: () => ReplProcessOptions;
  endpoint(): Promise<BrowserEndpoint>;
  visibleTarget(): Promise<string | undefined>;
}

export interface ReplCall {
  readonly code: string;
  readonly reset: boolean;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

/** The process of a session that keeps the state of code between calls. One call runs at once. */
export class Repl {
  readonly #options: ReplOptions;
  readonly #turns = new Turns({ running: 1, waiting: maxWaiting });
  readonly #closing = new AbortController();
  #process: ReplProcess | undefined;

  constructor(options: ReplOptions) {
    this.#options = options;
  }

  /** @throws {ServiceError} 429 at a limit, 503 when the session ends. Throws the signal's reason when it is aborted. */
  async run(call: ReplCall): Promise<ReplResult> {
    if (this.#turns.isFull)
      throw new ServiceError(
        429,
        "too_many_requests",
        `A call of the REPL runs and ${String(maxWaiting)} wait, the limits.`,
        {
          limit: maxWaiting,
          hint: "Wait for one to end.",
          retryAfterSeconds: 1,
        },
      );
    const endTurn = await this.#turns.take(AbortSignal.any([call.signal, this.#closing.signal]));
    try {
      return await this.#inTurn(call);
    } finally {
      endTurn();
    }
  }

  close(): void {
    this.#closing.abort(new ServiceError(503, "shutting_down", "The session ended while code ran, or waited to run."));
    this.#process?.stop("The session ended.");
  }

  /** The next call starts another process, and its answer names the reason. */
  endProcess(reason: string): void {
    this.#process?.stop(reason);
  }

  async #inTurn(call: ReplCall): Promise<ReplResult> {
    if (call.reset) this.#reset();
    const process = await this.#ready();
    this.#closing.signal.throwIfAborted();
    // The caller may have left, or a handoff begun, while the process started.
    call.signal.throwIfAborted();
    const began = performance.now();
    const end = call.code === "" ? { success: true as const } : await this.#runCode(process, call);
    this.#closing.signal.throwIfAborted();
    call.signal.throwIfAborted();
    // This answer tells its end, so the next one does not.
    if (process.end === end) this.#process = undefined;
    return {
      repl_id: process.id,
      ...end,
      ...process.output.take(),
      duration_ms: Math.round(performance.now() - began),
      repl_terminated: process.end !== undefined,
    };
  }

  #reset(): void {
    this.#process?.stop("The REPL was reset.");
    this.#process = undefined;
  }

  async #runCode(process: ReplProcess, { code, signal, timeoutSeconds }: ReplCall) {
    const stop = (): void => {
      process.stop("The code was stopped.");
    };
    signal.addEventListener("abort", stop, { once: true });
    const timer = setTimeout(() => {
      process.stop(
        `The code did not end within ${String(timeoutSeconds)} s (timeout_sec). The process was ended, and its state is lost.`,
      );
    }, timeoutSeconds * 1000);
    try {
      const [endpoint, visibleTarget] = await Promise.all([
        this.#endpoint(),
        this.#options.visibleTarget().catch(() => undefined),
      ]);
      return await process.run({ code, endpoint, visibleTarget });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    }
  }

  /** Code that needs no browser runs while the browser does not. */
  async #endpoint(): Promise<string | undefined> {
    const late = AbortSignal.timeout(endpointTimeoutMs);
    const none = new Promise<undefined>((resolve) => {
      late.addEventListener("abort", () => {
        resolve(undefined);
      });
    });
    const found = await Promise.race([this.#options.endpoint().catch(() => undefined), none]);
    return found === undefined ? undefined : `ws://127.0.0.1:${String(found.port)}${found.path}`;
  }

  async #ready(): Promise<ReplProcess> {
    const former = this.#process;
    if (former !== undefined && former.end === undefined) return former;
    const timer = setTimeout(() => {
      this.#process?.stop("The process of the REPL did not start.");
    }, startTimeoutMs);
    try {
      const process = new ReplProcess(this.#options.start());
      this.#process = process;
      if (former?.end !== undefined) {
        const text = `The process of earlier calls has ended: ${former.end.error}\n`;
        process.output.takeFrom(former.output);
        process.output.addText({ channel: "stderr", text });
      }
      await process.ready;
      return process;
    } catch (error) {
      this.#closing.signal.throwIfAborted();
      throw processStartError("The REPL cannot be started", error);
    } finally {
      clearTimeout(timer);
    }
  }
}
