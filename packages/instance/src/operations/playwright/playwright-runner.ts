import { anySignal, messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { PlaywrightResult } from "@shoal/schemas";
import pTimeout from "p-timeout";
import type { BrowserEndpoint } from "../../browser/chromium/browser.ts";
import type { SessionDownloads } from "../../browser/downloads/session-downloads.ts";
import { type EgressFailures, egressErrors, egressTarget } from "../../egress/failures.ts";
import { Turns } from "../../system/turns.ts";
import { CodeRun } from "./code-run.ts";
import type { CodeTab, OutputChannel, Outcome } from "./messages.ts";
import { WorkerPool } from "./worker-pool.ts";
import type { WorkerOptions, WorkerProcess } from "./worker-process.ts";

/** Concurrent runs, each in its own process of about 100 MB. */
export const maxRunning = 4;
export const maxWaiting = 32;
const openTabMs = 5_000;

export interface PlaywrightRunnerOptions extends WorkerOptions {
  endpoint(): Promise<BrowserEndpoint>;
  visibleTarget(): Promise<string | undefined>;
  readonly failures: EgressFailures | undefined;
  readonly downloads: Pick<SessionDownloads, "openCodeFolder" | "placed" | "settled">;
}

export interface CodeRequest {
  readonly code: string;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
  readonly executor: CodeExecutor;
  /** Tabs of named executors, which are not `page` of other calls. */
  readonly taken: () => readonly string[];
}

/** Where code runs, and what may stop it. */
export interface CodeExecutor {
  /** `undefined`: `page` is the front page. */
  readonly own: { readonly targetId: string | undefined } | undefined;
  /** Its latest tab. */
  readonly targetId: string | undefined;
  /** Aborted: the code must not begin. */
  readonly deleted: AbortSignal;
  /** Called for each run. @returns a function to call at its end. */
  onRun(stop: (reason: string) => void): () => void;
  onTab(tab: CodeTab): void;
}

interface Prepared {
  readonly worker: WorkerProcess;
  readonly endpoint: string;
  readonly visibleTarget: string | undefined;
}

export class PlaywrightRunner {
  readonly #options: PlaywrightRunnerOptions;
  readonly #workers: WorkerPool;
  readonly #turns = new Turns({ running: maxRunning, waiting: maxWaiting });
  readonly #calls = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  constructor(options: PlaywrightRunnerOptions) {
    this.#options = options;
    this.#workers = new WorkerPool(options);
  }

  /**
   * @throws {ServiceError} 429 at a limit; 503 when the browser does not run or the session ends. Throws the reason of
   * `executor.deleted` when it is aborted before the code begins.
   */
  async run(request: CodeRequest): Promise<PlaywrightResult> {
    if (this.#closing.signal.aborted) throw sessionEnds();
    const call = this.#inTurn(request);
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  endProcesses(): void {
    this.#workers.endAll();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#workers.close();
    await Promise.allSettled(this.#calls);
  }

  async #inTurn(request: CodeRequest): Promise<PlaywrightResult> {
    if (this.#turns.isFull)
      throw new ServiceError(
        429,
        "too_many_requests",
        `${String(maxRunning)} Playwright calls run in this session and ${String(maxWaiting)} wait, the limits.`,
        { limit: maxRunning, hint: "Wait for one to end.", retryAfterSeconds: 1 },
      );
    const stop = anySignal([request.signal, this.#closing.signal, request.executor.deleted]);
    const endTurn = await this.#orSessionEnds(this.#turns.take(stop));
    try {
      return await this.#execute(await this.#prepare(), request);
    } finally {
      endTurn();
    }
  }

  /** The end of the session explains a failure better than the failure itself. */
  async #orSessionEnds<T>(step: Promise<T>): Promise<T> {
    return step.catch((error: unknown) => {
      throw this.#closing.signal.aborted ? sessionEnds() : error;
    });
  }

  async #prepare(): Promise<Prepared> {
    const ready = this.#orSessionEnds(this.#workers.ready());
    try {
      const [{ port, path }, visibleTarget, worker] = await Promise.all([
        this.#endpoint(),
        this.#options.visibleTarget().catch(() => undefined),
        ready,
      ]);
      return { worker, endpoint: `ws://127.0.0.1:${String(port)}${path}`, visibleTarget };
    } catch (error) {
      ready.then(
        (worker) => {
          this.#workers.keep(worker);
        },
        () => undefined,
      );
      throw error;
    }
  }

  #endpoint(): Promise<BrowserEndpoint> {
    return this.#options.endpoint().catch((error: unknown) => {
      throw new ServiceError(503, "browser_not_running", `The browser does not run: ${messageOf(error)}.`, {
        cause: error,
        retryAfterSeconds: 1,
      });
    });
  }

  async #execute(prepared: Prepared, request: CodeRequest): Promise<PlaywrightResult> {
    const { worker } = prepared;
    const { executor, signal } = request;
    if (signal.aborted || executor.deleted.aborted) {
      this.#workers.keep(worker);
      signal.throwIfAborted();
      executor.deleted.throwIfAborted();
    }
    const { run, outcome, clean, tab } = await this.#runCode(prepared, request);
    if (this.#closing.signal.aborted) throw sessionEnds();
    if (clean && run.stopReason === undefined) this.#workers.keep(worker);
    else this.#workers.replace(worker);
    if (run.isCut) signal.throwIfAborted();
    if (run.stopReason !== undefined) return answerOf({ success: false, error: run.stopReason }, run.output, tab);
    if (!outcome.success && outcome.unreached === true)
      throw new ServiceError(
        503,
        "browser_not_running",
        `The browser could not be reached, so the code was not run: ${outcome.error}`,
        { retryAfterSeconds: 1 },
      );
    return answerOf(await withReason(outcome, this.#options.failures), run.output, tab);
  }

  async #runCode({ worker, ...target }: Prepared, { code, executor, taken, timeoutSeconds, signal }: CodeRequest) {
    let tab: CodeTab | undefined;
    const known = Promise.withResolvers<void>();
    let hasEnded = false;
    using run = new CodeRun({
      worker,
      timeoutSeconds,
      signal,
      onStop: () => {
        this.#workers.end(worker);
      },
      beforeClose: () => this.#options.downloads.placed(),
      onTab(found) {
        tab = found;
        executor.onTab(found);
        known.resolve();
      },
    });
    const end = executor.onRun((reason) => {
      // A worker that is killed while it opens a tab leaves it open, with an unknown target.
      void pTimeout(known.promise, { milliseconds: openTabMs, message: false }).then(() => {
        if (!hasEnded) run.stop(reason);
      });
    });
    const folder = this.#options.downloads.openCodeFolder();
    try {
      // The code's connection configures downloads; an earlier change must not override it.
      await this.#options.downloads.settled;
      const connectTimeoutMs = timeoutSeconds * 1000;
      const { own } = executor;
      const tabs = taken();
      const isTaken = target.visibleTarget !== undefined && tabs.includes(target.visibleTarget);
      const visibleTarget = isTaken ? executor.targetId : target.visibleTarget;
      const where = { ...target, visibleTarget, taken: tabs, ...(own && { own }), artifactsDir: folder.path };
      const ended = await run.run({ type: "run", code, ...where, connectTimeoutMs });
      return { run, tab, ...ended };
    } finally {
      hasEnded = true;
      known.resolve();
      end();
      await folder.close();
    }
  }
}

function sessionEnds(): ServiceError {
  return new ServiceError(503, "shutting_down", "The session ended while Playwright code ran, or waited to run.");
}

/** Adds the egress gateway's reason for a network failure, which is unknown to Chromium and Playwright. */
async function withReason(outcome: Outcome, failures: EgressFailures | undefined): Promise<Outcome> {
  if (outcome.success) return outcome;
  const [, name = "", address = ""] = /(net::ERR_[A-Z_]+) at (\S+)/.exec(outcome.error) ?? [];
  const failure = egressErrors.has(name) ? await failures?.of(egressTarget(address)) : undefined;
  return failure === undefined ? outcome : { ...outcome, error: `${outcome.error}\n${failure.message}` };
}

function answerOf(
  outcome: Outcome,
  { stdout, stderr }: Readonly<Record<OutputChannel, string>>,
  tab: CodeTab | undefined,
): PlaywrightResult {
  const output = { stdout, stderr, ...(tab && { tab: { target_id: tab.targetId, created: tab.created } }) };
  if (!outcome.success) return { success: false, error: outcome.error, ...output };
  if (outcome.result === undefined) return { success: true, ...output };
  try {
    return { success: true, result: JSON.parse(outcome.result) as unknown, ...output };
  } catch {
    // The code itself sent an invalid message to the parent.
    return { success: false, error: "What the code returned is not JSON.", ...output };
  }
}
