import { anySignal } from "@shoal/primitives";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { CapturedPage } from "../sight/captured-page.ts";
import type { ConvertedPage } from "../text/convert-page.ts";
import type { PdfSource, PdfText } from "../text/pdf-text.ts";

/** The thread ends when it is unused for this time. */
const idleMs = 30_000;
const maxMemoryMb = 512;
const watchMs = 250;
/** How many times as long as on an idle machine a conversion may take. */
const mostSlower = 6;

/** Converts pages in a thread with limits: a hostile page may be expensive. */
export class MarkdownThread {
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** One at a time. Returns `undefined` after `workMs` of a processor, or if the memory does not suffice. */
  convert(source: PdfSource, workMs: number): Promise<PdfText | undefined>;
  convert(source: CapturedPage, workMs: number): Promise<ConvertedPage | undefined>;
  convert(source: CapturedPage | PdfSource, workMs: number): Promise<ConvertedPage | undefined> {
    const converted = this.#last.then(() => this.#run(source, workMs));
    this.#last = converted.catch(() => undefined);
    return converted;
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  async #run(source: CapturedPage | PdfSource, workMs: number): Promise<ConvertedPage | undefined> {
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const done = new AbortController();
    const signal = anySignal([AbortSignal.timeout(workMs * mostSlower), workDone(worker, workMs, done.signal)]);
    try {
      worker.postMessage(source);
      const [converted] = (await once(worker, "message", { signal })) as [ConvertedPage];
      this.#idle = globalThis.setTimeout(() => void this.close(), idleMs).unref();
      return converted;
    } catch (error) {
      await this.close();
      if (signal.aborted || isOutOfMemory(error)) return undefined;
      throw error;
    } finally {
      done.abort();
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

/** Aborts once a thread has used a processor for `workMs`: on a busy machine, that takes longer. */
function workDone(worker: Worker, workMs: number, end: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const watch = async (): Promise<void> => {
    const begin = await worker.cpuUsage();
    while (!end.aborted) {
      await setTimeout(watchMs, undefined, { ref: false });
      const { system, user } = await worker.cpuUsage(begin);
      if ((user + system) / 1_000 > workMs) controller.abort();
    }
  };
  // A thread that has ended has no usage.
  watch().catch(() => undefined);
  return controller.signal;
}

function isOutOfMemory(error: unknown): boolean {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return code === "ERR_WORKER_OUT_OF_MEMORY" || error instanceof RangeError;
}
