import { setTimeout as delay } from "node:timers/promises";
import { ServiceError } from "@shoal/router";
import pTimeout from "p-timeout";
import type { Log } from "../../log/log.ts";
import type { AppLogs } from "../logs/app-logs.ts";
import { type AppProgram, type AppResult, AppStartError } from "../runtime/app-runtime.ts";
import type { Ending, InvocationRow, InvocationStore } from "./invocation-store.ts";
import type { WarmPrograms } from "./warm-programs.ts";

export interface InvocationRunnerParts {
  readonly store: InvocationStore;
  readonly programs: WarmPrograms;
  readonly logs: Pick<AppLogs, "writer">;
  readonly serverId: string;
  readonly log: Log;
  /** Called after the end of each invocation. */
  readonly onEnd: (row: InvocationRow) => void;
}

interface Running {
  readonly abort: AbortController;
  readonly done: Promise<InvocationRow>;
}

/** Its row has an ending already. */
class EndedElsewhere extends Error {}
class TimedOut extends Error {}
class ServerStops extends Error {}

const attemptsToWrite = 8;

/** Runs invocations on this server and stores how they end. */
export class InvocationRunner {
  readonly #parts: InvocationRunnerParts;
  readonly #running = new Map<string, Running>();
  readonly #stopping = new Set<Promise<void>>();
  #isClosed = false;

  constructor(parts: InvocationRunnerParts) {
    this.#parts = parts;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Including programs that have returned their output and are ending. */
  get size(): number {
    return this.#running.size + this.#stopping.size;
  }

  /** Ids of the running invocations. */
  ids(): string[] {
    return [...this.#running.keys()];
  }

  has(id: string): boolean {
    return this.#running.has(id);
  }

  /** Never rejects. */
  start(row: InvocationRow): Promise<InvocationRow> {
    const abort = new AbortController();
    const timer = setTimeout(() => {
      abort.abort(new TimedOut());
    }, row.timeout_seconds * 1000);
    const done = this.#run(row, abort.signal).finally(() => {
      clearTimeout(timer);
      this.#running.delete(row.id);
    });
    this.#running.set(row.id, { abort, done });
    void done.then((ended) => {
      this.#parts.onEnd(ended);
    });
    return done;
  }

  /** Ends the program of an invocation whose row has ended. */
  cancel(id: string): Promise<unknown> {
    const running = this.#running.get(id);
    running?.abort.abort(new EndedElsewhere());
    return running?.done ?? Promise.resolve();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { abort } of this.#running.values()) abort.abort(new ServerStops());
    await Promise.all([...this.#running.values()].map(({ done }) => done));
    await Promise.all(this.#stopping);
  }

  async #run(row: InvocationRow, signal: AbortSignal): Promise<InvocationRow> {
    const { logs, programs } = this.#parts;
    const writer = logs.writer({ deployment_id: row.deployment_id, invocation_id: row.id });
    let program: AppProgram | undefined;
    let ending: Ending | undefined;
    try {
      program = await programs.take(row.deployment_id, writer, signal);
      ending = await this.#invoke(row, program, signal);
    } catch (error) {
      ending = this.#endingOf(row, error);
    }
    const stopped = this.#stop(row, program);
    // The last lines of a killed program arrive until it has stopped.
    if (signal.aborted) await stopped;
    await writer.end();
    programs.refill(row.deployment_id);
    return this.#store(row, ending);
  }

  async #invoke(row: InvocationRow, program: AppProgram, signal: AbortSignal): Promise<Ending> {
    const { id: invocation_id, app_name, action_name, payload } = row;
    const { promise: refused, reject } = Promise.withResolvers<never>();
    this.#markRunning(row).catch(reject);
    const result = program.invoke({ invocation_id, app_name, action_name, ...(payload !== null && { payload }) });
    return pTimeout(Promise.race([refused, result]), { milliseconds: Infinity, signal }).then(endingOfResult);
  }

  /** @throws {EndedElsewhere} when the invocation was cancelled before its program began. */
  async #markRunning({ id }: InvocationRow): Promise<void> {
    const { log, serverId, store } = this.#parts;
    try {
      if (await store.markRunning(id, serverId)) return;
    } catch (error) {
      log.warn({ invocation_id: id, err: error }, "an invocation could not be marked as running");
      return;
    }
    // A fast action may have ended it meanwhile.
    if ((await store.find(undefined, id))?.finished_at !== null && this.#running.has(id)) throw new EndedElsewhere();
  }

  #stop({ id }: InvocationRow, program: AppProgram | undefined): Promise<void> {
    if (program === undefined) return Promise.resolve();
    const stopped = program.stop().catch((error: unknown) => {
      this.#parts.log.error({ invocation_id: id, err: error }, "the program of an app did not stop cleanly");
    });
    this.#stopping.add(stopped);
    return stopped.finally(() => this.#stopping.delete(stopped));
  }

  #endingOf(row: InvocationRow, error: unknown): Ending | undefined {
    if (error instanceof EndedElsewhere) return undefined;
    if (error instanceof TimedOut) return failed(timeoutReason(row));
    if (error instanceof ServerStops) return failed("The server was stopped while the action ran.");
    if (AppStartError.isInstance(error)) return failed(error.message);
    // What the caller can change: the key that deployed the app has ended, for instance.
    if (error instanceof ServiceError && error.status < 500 && error.status !== 429)
      return { ...failed(error.message), isFinal: true };
    this.#parts.log.error({ invocation_id: row.id, err: error }, "an invocation could not be started");
    return failed("The service could not start the app. Its operator finds the reason in the server's log.");
  }

  /** Retries during a database outage. The next start of the server ends a row that could not be written. */
  async #store(row: InvocationRow, ending: Ending | undefined): Promise<InvocationRow> {
    const { log, serverId, store } = this.#parts;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const waits =
          ending?.status === "failed" &&
          ending.isFinal !== true &&
          row.max_retries > 0 &&
          (await store.retry(row.id, ending.status_reason ?? "The action failed.", serverId));
        const ended = ending === undefined || waits ? undefined : await store.end(row.id, ending, serverId);
        return ended ?? (await store.find(undefined, row.id)) ?? { ...row, ...unknownEnding };
      } catch (error) {
        log.warn({ invocation_id: row.id, attempt, err: error }, "the end of an invocation could not be stored");
        if (attempt === attemptsToWrite || this.#isClosed) return { ...row, ...unknownEnding };
        await delay(100 * 2 ** attempt, undefined, { ref: false });
      }
    }
  }
}

const unknownEnding = {
  status: "failed",
  status_reason: "The result could not be stored.",
  output: JSON.stringify({ error: "The result could not be stored." }),
  finished_at: null,
} as const;

export function failed(reason: string): Ending {
  return { status: "failed", status_reason: reason, output: JSON.stringify({ error: reason }) };
}

function endingOfResult({ status, output, status_reason }: AppResult): Ending {
  return { status, output, status_reason };
}

function timeoutReason({ is_async, timeout_seconds: seconds }: InvocationRow): string {
  return is_async
    ? `The action took longer than ${String(seconds)} s (async_timeout_seconds).`
    : `The action took longer than ${String(seconds)} s, the limit of a synchronous call. Invoke it with async and async_timeout_seconds.`;
}
