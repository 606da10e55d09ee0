import { once } from "node:events";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { CapturedPage } from "../sight/captured-page.ts";
import type { ConvertedPage } from "../text/convert-page.ts";

/** The thread ends when it is unused for this time. */
const idleMs = 30_000;
const maxMemoryMb = 512;

/** Converts pages in a thread with limits: a hostile page may be expensive. */
export class MarkdownThread {
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** One at a time. Returns `undefined` after `timeoutMs`, or if the memory does not suffice. */
  convert(page: CapturedPage, timeoutMs: number): Promise<ConvertedPage | undefined> {
    const converted = this.#last.then(() => this.#run(page, timeoutMs));
    this.#last = converted.catch(() => undefined);
    return converted;
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  async #run(page: CapturedPage, timeoutMs: number): Promise<ConvertedPage | undefined> {
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      worker.postMessage(page);
      const [converted] = (await once(worker, "message", { signal })) as [ConvertedPage];
      this.#idle = setTimeout(() => void this.close(), idleMs).unref();
      return converted;
    } catch (error) {
      await this.close();
      if (signal.aborted || isOutOfMemory(error)) return undefined;
      throw error;
    }
  }

  #start(): Worker {
    // In the built program, next to this file.
    const file = join(dirname(fileURLToPath(import.meta.url)), "markdown-worker.cjs");
    const worker = new Worker(file, {
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: maxMemoryMb, stackSizeMb: 16 },
    });
    worker.unref();
    worker.on("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    // Failures are reported to the waiting call.
    worker.on("error", () => undefined);
    return worker;
  }
}

function isOutOfMemory(error: unknown): boolean {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return code === "ERR_WORKER_OUT_OF_MEMORY" || error instanceof RangeError;
}
