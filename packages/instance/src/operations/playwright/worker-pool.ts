import { processStartError, startTimeoutMs } from "./process-limit.ts";
import { startWorker, type WorkerOptions, type WorkerProcess } from "./worker-process.ts";

/** An idle process uses about 100 MB. */
const idleMs = 5 * 60_000;

/** Starts processes for code and keeps one idle process for the next call. */
export class WorkerPool {
  readonly #options: WorkerOptions;
  readonly #workers = new Set<WorkerProcess>();
  #idle: WorkerProcess | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  /** Returns a process that accepts code. @throws {ServiceError} when none can be started. */
  async ready(): Promise<WorkerProcess> {
    let worker: WorkerProcess | undefined;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      if (worker !== undefined) this.end(worker);
    }, startTimeoutMs);
    try {
      worker = this.#take();
      await worker.ready;
      return worker;
    } catch (error) {
      if (worker !== undefined) this.end(worker);
      throw processStartError("Playwright code cannot be run", { error, isLate });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Keeps a process for the next call, or ends it if another one is idle. */
  keep(worker: WorkerProcess): void {
    if (this.#idle !== undefined || this.#closed) {
      this.end(worker);
      return;
    }
    this.#idle = worker;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      if (this.#idle === undefined) return;
      this.end(this.#idle);
      this.#idle = undefined;
    }, idleMs);
  }

  end(worker: WorkerProcess): void {
    this.#workers.delete(worker);
    worker.kill();
  }

  /** Ends a process, and starts another one for the next call: clients that run code usually run more. */
  replace(worker: WorkerProcess): void {
    this.end(worker);
    if (this.#idle !== undefined) return;
    try {
      this.keep(this.#start());
    } catch {
      // At the limit of processes. The next call tries again and reports it.
    }
  }

  /** Ends all processes, also while code runs in them. */
  endAll(): void {
    clearTimeout(this.#idleTimer);
    this.#idle = undefined;
    for (const worker of this.#workers) this.end(worker);
  }

  close(): void {
    this.#closed = true;
    this.endAll();
  }

  #take(): WorkerProcess {
    const idle = this.#idle;
    this.#idle = undefined;
    // The kernel kills idle processes first when memory is short.
    if (idle?.hasEnded === true) this.#workers.delete(idle);
    return idle === undefined || idle.hasEnded ? this.#start() : idle;
  }

  #start(): WorkerProcess {
    const worker = startWorker(this.#options);
    this.#workers.add(worker);
    return worker;
  }
}
