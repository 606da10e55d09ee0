import { ServiceError } from "@shoal/router";
import type { PlaywrightResult } from "@shoal/schemas";
import type { BrowserEndpoint } from "../chromium/browser.ts";
import type { SessionDownloads } from "../downloads/session-downloads.ts";
import { type EgressFailures, egressErrors, egressTarget } from "../egress-failures.ts";
import type { OutputChannel, Outcome } from "./messages.ts";
import { isAtProcessLimit } from "../process/process-limit.ts";
import { startWorker, type WorkerProcess } from "./worker-process.ts";

/** Pieces of code that run at once, each in a process of its own. */
export const maxRunning = 4;
/** Calls that may wait for their turn. */
export const maxWaiting = 32;
/** Kept of each channel, in characters; what follows is dropped. */
export const maxOutputCharacters = 2 ** 20;
const startTimeoutMs = 30_000;
/** A process that is not used for this long is ended: it holds about 100 MB. */
const idleMs = 5 * 60_000;

/** Runs Playwright code. */
export interface PlaywrightRunner {
  /** @throws {ServiceError} 429 when too many calls wait, or the session has too many processes; 503 when the browser does not run, or the session ends. The signal's reason when it stops the code. */
  run(code: string, timeoutSeconds: number, signal: AbortSignal): Promise<PlaywrightResult>;
  /** Ends what runs; resolves when its callers have been told. */
  close(): Promise<void>;
}

export interface PlaywrightRunnerOptions {
  readonly program: string;
  /** Working directory of the code. */
  readonly directory: string;
  readonly cacheDir: string | undefined;
  endpoint(): Promise<BrowserEndpoint>;
  /** CDP target of the page in front. */
  visibleTarget(): Promise<string | undefined>;
  /** Why the network was not reached; absent where nothing is ever run. */
  readonly failures: EgressFailures | undefined;
  readonly downloads: Pick<SessionDownloads, "openCodeFolder" | "settled">;
}

export function createPlaywrightRunner(options: PlaywrightRunnerOptions): PlaywrightRunner {
  const workers = new Set<WorkerProcess>();
  const waiting: (() => void)[] = [];
  let idle: WorkerProcess | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  let running = 0;
  const closed = new AbortController();
  const calls = new Set<Promise<unknown>>();

  function start(): WorkerProcess {
    const worker = startWorker(options);
    workers.add(worker);
    return worker;
  }
  function end(worker: WorkerProcess): void {
    workers.delete(worker);
    worker.kill();
  }
  /** Keeps one process warm for the next call. */
  function keep(worker: WorkerProcess): void {
    if (idle !== undefined || closed.signal.aborted) {
      end(worker);
      return;
    }
    idle = worker;
    clearTimeout(idleTimer);
    idleTimer = setTimeout(() => {
      if (idle === undefined) return;
      end(idle);
      idle = undefined;
    }, idleMs);
  }
  function keepAnother(): void {
    try {
      keep(start());
    } catch {
      // No room for another process now. The next call tries again and says so.
    }
  }
  function take(): WorkerProcess {
    const worker = idle ?? start();
    idle = undefined;
    return worker;
  }

  async function turn(signal: AbortSignal): Promise<void> {
    if (running < maxRunning) {
      running++;
      return;
    }
    if (waiting.length >= maxWaiting)
      throw new ServiceError(
        429,
        "too_many_requests",
        `${String(maxRunning)} pieces of Playwright code run in this session and ${String(maxWaiting)} wait. Wait for one to end.`,
        { retryAfterSeconds: 1 },
      );
    const turned = Promise.withResolvers<void>();
    const resume = () => {
      turned.resolve();
    };
    const giveUp = () => {
      const index = waiting.indexOf(resume);
      if (index === -1) return;
      waiting.splice(index, 1);
      turned.reject(closed.signal.aborted ? sessionEnds() : signal.reason);
    };
    waiting.push(resume);
    for (const one of [signal, closed.signal]) one.addEventListener("abort", giveUp, { once: true });
    try {
      await turned.promise;
    } finally {
      for (const one of [signal, closed.signal]) one.removeEventListener("abort", giveUp);
    }
  }
  /** Hands the place to whoever waits longest. */
  function finishTurn(): void {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }

  async function readyWorker(): Promise<WorkerProcess> {
    let worker: WorkerProcess | undefined;
    const timer = setTimeout(() => {
      if (worker !== undefined) end(worker);
    }, startTimeoutMs);
    try {
      worker = take();
      await worker.ready;
      return worker;
    } catch (error) {
      if (worker !== undefined) end(worker);
      throw closed.signal.aborted ? sessionEnds() : startError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  async function runOnce(code: string, timeoutSeconds: number, signal: AbortSignal): Promise<PlaywrightResult> {
    const [{ port, path }, visibleTarget, worker] = await Promise.all([
      options.endpoint().catch((error: unknown) => {
        throw new ServiceError(503, "browser_not_running", `The browser does not run: ${messageOf(error)}.`, { cause: error, retryAfterSeconds: 1 });
      }),
      options.visibleTarget().catch(() => undefined),
      readyWorker(),
    ]);
    if (signal.aborted) {
      keep(worker);
      signal.throwIfAborted();
    }
    const output = { stdout: "", stderr: "" };
    let ended: string | undefined;
    let isCut: boolean | undefined;
    const stop = (why: string) => {
      ended ??= why;
      end(worker);
    };
    const timeoutMs = timeoutSeconds * 1000;
    const timer = setTimeout(stop, timeoutMs, `The code did not end within ${String(timeoutSeconds)} s (timeout_sec) and was stopped.`);
    const onAbort = () => {
      isCut = ended === undefined;
      stop("The code was stopped: the client is gone.");
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const folder = options.downloads.openCodeFolder();
    const endpoint = `ws://127.0.0.1:${String(port)}${path}`;
    // The code's connection sets where its downloads go; an earlier change must not overwrite that.
    await options.downloads.settled;
    const { outcome, clean } = await worker
      .run({ type: "run", code, endpoint, visibleTarget, artifactsDir: folder.path, connectTimeoutMs: timeoutMs }, (channel: OutputChannel, text) => {
        output[channel] = (output[channel] + text).slice(0, maxOutputCharacters);
      })
      .finally(() => {
        folder.close();
      });
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    if (closed.signal.aborted) throw sessionEnds();
    if (clean && ended === undefined) keep(worker);
    else {
      end(worker);
      // Who runs code once runs it again.
      if (idle === undefined) keepAnother();
    }
    if (isCut === true) signal.throwIfAborted();
    if (ended === undefined && !outcome.success && outcome.unreached === true)
      throw new ServiceError(503, "browser_not_running", `The browser could not be reached, so the code was not run: ${outcome.error}`, {
        retryAfterSeconds: 1,
      });
    const told = ended === undefined ? await withReason(outcome, options.failures) : ({ success: false, error: ended } as const);
    return answerOf(told, output);
  }

  async function inTurn(code: string, timeoutSeconds: number, signal: AbortSignal): Promise<PlaywrightResult> {
    await turn(signal);
    try {
      return await runOnce(code, timeoutSeconds, signal);
    } finally {
      finishTurn();
    }
  }

  return {
    async run(code, timeoutSeconds, signal) {
      if (closed.signal.aborted) throw sessionEnds();
      const call = inTurn(code, timeoutSeconds, signal);
      calls.add(call);
      try {
        return await call;
      } finally {
        calls.delete(call);
      }
    },
    async close() {
      closed.abort();
      clearTimeout(idleTimer);
      for (const worker of workers) end(worker);
      await Promise.allSettled(calls);
    },
  };
}

function sessionEnds(): ServiceError {
  return new ServiceError(503, "shutting_down", "The session ended while Playwright code ran, or waited to run.");
}

function startError(error: unknown): ServiceError {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return isAtProcessLimit(cause)
    ? new ServiceError(
        429,
        "too_many_processes",
        "Playwright code cannot be run: the session has as many processes and threads, or as much memory, as it may have. End some of its processes.",
        { cause: error },
      )
    : new ServiceError(500, "internal_error", `Playwright code cannot be run: ${messageOf(error)}.`, { cause: error });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Adds why the egress gateway did not reach an address: Chromium and Playwright know only that no answer came. */
async function withReason(outcome: Outcome, failures: EgressFailures | undefined): Promise<Outcome> {
  if (outcome.success) return outcome;
  const [, name = "", address = ""] = /(net::ERR_[A-Z_]+) at (\S+)/.exec(outcome.error) ?? [];
  const failure = egressErrors.has(name) ? await failures?.of(egressTarget(address)) : undefined;
  return failure === undefined ? outcome : { ...outcome, error: `${outcome.error}\n${failure.message}` };
}

function answerOf(outcome: Outcome, { stdout, stderr }: Readonly<Record<OutputChannel, string>>): PlaywrightResult {
  const output = { stdout, stderr };
  if (!outcome.success) return { success: false, error: outcome.error, ...output };
  if (outcome.result === undefined) return { success: true, ...output };
  try {
    return { success: true, result: JSON.parse(outcome.result) as unknown, ...output };
  } catch {
    // The code itself has spoken to the parent.
    return { success: false, error: "What the code returned is not JSON.", ...output };
  }
}
