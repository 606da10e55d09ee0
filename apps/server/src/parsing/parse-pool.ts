import { ServiceError } from "@shoal/router";
import { extname } from "node:path";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { ParseKind, ParseRequest, ParseTasks, SourceMessage, WorkerMessage } from "./parse-tasks.ts";

/** The data of a job is invalid, or reading it takes more memory or time than one job may have. */
export class ParseFailure extends Error {
  override readonly name = "ParseFailure";
}

/** How a job is run. */
export interface ParseOptions {
  /** Whose data it is. One job of an owner runs at a time, so that no owner occupies every worker. */
  readonly owner: string;
  /** Ends the job: aborted when the client has left. */
  readonly signal: AbortSignal;
  /** Bytes that the job reads; the worker asks for each piece. */
  readonly source?: AsyncIterable<Uint8Array>;
}

/**
 * Parses what sessions and tenants have made, in threads with bounded memory and time: the main thread serves every tenant, and one hostile document must not
 * stop it. Bounds on bytes and counts belong to each task; the bounds here hold where those fail.
 */
export interface ParsePool {
  /** @throws {ParseFailure}; {ServiceError} 503 `overloaded` when too many jobs wait; what the source and the signal fail with. */
  run<Kind extends ParseKind>(kind: Kind, input: ParseTasks[Kind]["input"], options: ParseOptions): Promise<ParseTasks[Kind]["result"]>;
  /** Ends the workers; jobs that run or wait are rejected. */
  close(): Promise<void>;
}

export interface ParsePoolLimits {
  readonly workers: number;
  /** Jobs of one owner that wait or run. */
  readonly jobsPerOwner: number;
  /** Jobs of all owners that wait or run. */
  readonly jobs: number;
  /** How long a job may run. */
  readonly runMs: number;
  /** Memory of a worker for JavaScript values. */
  readonly heapMb: number;
  /** How long a worker without a job is kept. */
  readonly idleMs: number;
}

const defaultLimits: ParsePoolLimits = { workers: 2, jobsPerOwner: 16, jobs: 256, runMs: 20_000, heapMb: 256, idleMs: 300_000 };

interface Job {
  readonly kind: ParseKind;
  readonly input: unknown;
  readonly options: ParseOptions;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A job that a worker has. */
interface Running {
  readonly worker: Worker;
  /** Lets go of all but the worker. */
  readonly finish: () => void;
}

interface IdleWorker {
  readonly worker: Worker;
  readonly expiry: NodeJS.Timeout;
}

export function createParsePool(limits: Partial<ParsePoolLimits> = {}): ParsePool {
  return new WorkerParsePool({ ...defaultLimits, ...limits });
}

class WorkerParsePool implements ParsePool {
  readonly #limits: ParsePoolLimits;
  readonly #waiting: Job[] = [];
  readonly #running = new Map<Job, Running>();
  readonly #idle: IdleWorker[] = [];
  #closed = false;

  constructor(limits: ParsePoolLimits) {
    this.#limits = limits;
  }

  async run<Kind extends ParseKind>(kind: Kind, input: ParseTasks[Kind]["input"], options: ParseOptions): Promise<ParseTasks[Kind]["result"]> {
    const { signal } = options;
    signal.throwIfAborted();
    if (this.#closed) throw closing();
    this.#refuseTooMany(options.owner);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const job: Job = { kind, input, options, resolve, reject };
    const abort = (): void => {
      this.#end(job, signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    this.#waiting.push(job);
    this.#startNext();
    try {
      // A worker answers for the kind that it was asked for.
      return (await promise) as ParseTasks[Kind]["result"];
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const job of [...this.#waiting, ...this.#running.keys()]) this.#end(job, closing());
    await Promise.all(
      this.#idle.splice(0).map(async ({ worker, expiry }) => {
        clearTimeout(expiry);
        await worker.terminate();
      }),
    );
  }

  #refuseTooMany(owner: string): void {
    const jobs = [...this.#waiting, ...this.#running.keys()];
    const own = jobs.filter(({ options }) => options.owner === owner).length;
    if (jobs.length < this.#limits.jobs && own < this.#limits.jobsPerOwner) return;
    throw new ServiceError(
      503,
      "overloaded",
      "The server reads too many saved states and telemetry histories at once. Send the request again in a moment.",
      {
        retryAfterSeconds: 1,
      },
    );
  }

  #startNext(): void {
    while (this.#running.size < this.#limits.workers) {
      const busy = new Set([...this.#running.keys()].map(({ options }) => options.owner));
      const index = this.#waiting.findIndex(({ options }) => !busy.has(options.owner));
      const [job] = index === -1 ? [] : this.#waiting.splice(index, 1);
      if (job === undefined) return;
      this.#start(job);
    }
  }

  #start(job: Job): void {
    const worker = this.#takeWorker();
    const { port1: port, port2 } = new MessageChannel();
    const source = job.options.source?.[Symbol.asyncIterator]();
    const timer = setTimeout(() => {
      this.#end(job, new ParseFailure(`Reading it took more than ${String(this.#limits.runMs / 1000)} s.`));
    }, this.#limits.runMs);
    const lost = (): void => {
      this.#end(job, new ParseFailure("Reading it took more memory than it may."));
    };
    worker.once("error", lost).once("exit", lost);
    const finish = (): void => {
      clearTimeout(timer);
      worker.off("error", lost).off("exit", lost);
      port.close();
      source?.return?.().catch(() => undefined);
    };
    this.#running.set(job, { worker, finish });
    port.on("message", (message: WorkerMessage) => {
      if (message.type === "pull") void this.#feed(job, port, source);
      else this.#settle(job, message);
    });
    worker.postMessage({ kind: job.kind, input: job.input, port: port2 } satisfies ParseRequest, [port2]);
  }

  async #feed(job: Job, port: MessagePort, source: AsyncIterator<Uint8Array> | undefined): Promise<void> {
    try {
      const next = await source?.next();
      if (next === undefined || next.done === true) port.postMessage({ end: true } satisfies SourceMessage);
      else {
        // A copy: the piece may be a view of memory that others use too, all of which would be sent.
        const bytes = new Uint8Array(next.value);
        port.postMessage({ bytes } satisfies SourceMessage, [bytes.buffer]);
      }
    } catch (error) {
      this.#end(job, error);
    }
  }

  /** The worker has answered, and can take another job. */
  #settle(job: Job, message: Exclude<WorkerMessage, { type: "pull" }>): void {
    const running = this.#running.get(job);
    if (running === undefined) return;
    this.#running.delete(job);
    running.finish();
    this.#keep(running.worker);
    if (message.type === "done") job.resolve(message.result);
    else job.reject(message.isInvalid ? new ParseFailure(message.message) : new Error(message.message));
    this.#startNext();
  }

  /** Gives a job up, and ends its worker where it runs. */
  #end(job: Job, reason: unknown): void {
    const index = this.#waiting.indexOf(job);
    if (index !== -1) this.#waiting.splice(index, 1);
    job.reject(reason);
    const running = this.#running.get(job);
    if (running === undefined) return;
    this.#running.delete(job);
    running.finish();
    void running.worker.terminate();
    this.#startNext();
  }

  #takeWorker(): Worker {
    const idle = this.#idle.pop();
    if (idle === undefined) return this.#startWorker();
    clearTimeout(idle.expiry);
    return idle.worker;
  }

  #keep(worker: Worker): void {
    if (this.#closed) {
      void worker.terminate();
      return;
    }
    const expiry = setTimeout(() => {
      this.#drop(worker);
    }, this.#limits.idleMs).unref();
    this.#idle.push({ worker, expiry });
  }

  #drop(worker: Worker): void {
    const index = this.#idle.findIndex((idle) => idle.worker === worker);
    if (index !== -1) clearTimeout(this.#idle.splice(index, 1)[0]?.expiry);
    void worker.terminate();
  }

  #startWorker(): Worker {
    // `.ts` in the sources, which then need the condition that finds those of other packages.
    const extension = extname(import.meta.url);
    const worker = new Worker(new URL(`./parse-worker${extension}`, import.meta.url), {
      name: "parse",
      env: {},
      execArgv: extension === ".ts" ? ["--conditions=@shoal/source"] : [],
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.heapMb, maxYoungGenerationSizeMb: 32 },
    });
    worker.unref();
    // Also while it has no job; without a listener an error ends the service.
    worker.on("error", () => {
      this.#drop(worker);
    });
    return worker;
  }
}

function closing(): ServiceError {
  return new ServiceError(503, "shutting_down", "The server is stopping. Send the request again in a moment.", { retryAfterSeconds: 1 });
}
