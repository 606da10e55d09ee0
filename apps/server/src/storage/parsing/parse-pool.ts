import { ServiceError } from "@shoal/router";
import { extname } from "node:path";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { packageFile } from "../../config/package-file.ts";
import type { ParseKind, ParseRequest, ParseTasks, SourceMessage, WorkerMessage } from "./parse-tasks.ts";

/** The data is invalid, or exceeds the memory or time of a job. */
export class ParseFailure extends Error {
  override readonly name = "ParseFailure";
}

export interface ParseOptions {
  /** An owner's jobs run one at a time, so that no owner occupies every worker. */
  readonly owner: string;
  readonly signal: AbortSignal;
  readonly source?: AsyncIterable<Uint8Array>;
}

export interface ParsePoolLimits {
  readonly workers: number;
  readonly jobsPerOwner: number;
  readonly jobs: number;
  readonly runMs: number;
  readonly heapMb: number;
  readonly idleMs: number;
}

const defaultLimits: ParsePoolLimits = {
  workers: 2,
  jobsPerOwner: 16,
  jobs: 256,
  runMs: 20_000,
  heapMb: 256,
  idleMs: 300_000,
};

interface Job {
  readonly kind: ParseKind;
  readonly input: unknown;
  readonly options: ParseOptions;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Running {
  readonly worker: Worker;
  readonly finish: () => void;
}

interface IdleWorker {
  readonly worker: Worker;
  readonly expiry: NodeJS.Timeout;
}

/**
 * Worker threads with limited memory and time: a hostile document cannot block the main thread. Each task also limits
 * bytes and counts.
 */
export class ParsePool {
  readonly #limits: ParsePoolLimits;
  readonly #waiting: Job[] = [];
  readonly #running = new Map<Job, Running>();
  readonly #idle: IdleWorker[] = [];
  #closed = false;

  constructor(limits: Partial<ParsePoolLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** @throws {ParseFailure}; {ServiceError} 503 `overloaded`; errors of the source and the signal. */
  async run<Kind extends ParseKind>(
    kind: Kind,
    input: ParseTasks[Kind]["input"],
    options: ParseOptions,
  ): Promise<ParseTasks[Kind]["result"]> {
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
      // The worker returns the output type of the requested kind.
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
      "The server is reading too many pages, saved states, search answers and telemetry histories.",
      {
        hint: "Retry in a moment.",
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
      this.#end(job, new ParseFailure(`Reading it took longer than ${String(this.#limits.runMs / 1000)} s.`));
    }, this.#limits.runMs);
    const lost = (): void => {
      this.#end(job, new ParseFailure("Reading it exceeded the memory limit."));
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
        // Copy: a view of a larger shared buffer would be sent with the whole buffer.
        const bytes = new Uint8Array(next.value);
        port.postMessage({ bytes } satisfies SourceMessage, [bytes.buffer]);
      }
    } catch (error) {
      this.#end(job, error);
    }
  }

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
    // The sources need the import condition for the sources of other packages.
    const isSource = extname(import.meta.url) === ".ts";
    const program = isSource ? "src/storage/parsing/parse-worker.ts" : "dist/storage/parsing/parse-worker.js";
    const worker = new Worker(packageFile(program), {
      name: "parse",
      env: {},
      execArgv: isSource ? ["--conditions=@shoal/source"] : [],
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.heapMb, maxYoungGenerationSizeMb: 32 },
    });
    worker.unref();
    // Without a listener, an error of an idle worker would end the service.
    worker.on("error", () => {
      this.#drop(worker);
    });
    return worker;
  }
}

function closing(): ServiceError {
  return new ServiceError(503, "shutting_down", "The server is stopping.", {
    hint: "Retry in a moment.",
    retryAfterSeconds: 1,
  });
}
