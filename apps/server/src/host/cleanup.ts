import pTimeout from "p-timeout";
import type { Log } from "../log/log.ts";

/** Time of a step after the deadline. */
const leastMs = 1_000;

/** Steps that undo a start, run in reverse order when it fails or the service stops. */
export class Cleanup {
  readonly #steps: { readonly name: string; readonly undo: () => unknown }[] = [];
  readonly #log: Pick<Log, "error">;

  constructor(log: Pick<Log, "error">) {
    this.#log = log;
  }

  add(name: string, undo: () => unknown): void {
    this.#steps.push({ name, undo });
  }

  /**
   * Never rejects. A step that has not ended is logged, and the next ones follow: they may end browsers and programs.
   * @param deadlineMs - by `performance.now()`.
   */
  async run(deadlineMs = Infinity): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        const ended = Promise.resolve(step.undo());
        await pTimeout(ended, {
          milliseconds: Math.max(leastMs, deadlineMs - performance.now()),
          message: "it took too much time",
        });
      } catch (error) {
        this.#log.error({ err: error }, `${step.name} did not stop cleanly`);
      }
    }
  }
}
