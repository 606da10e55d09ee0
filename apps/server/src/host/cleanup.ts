import type { Log } from "../log/log.ts";

/** Steps that undo a start, run in reverse order when it fails or the service stops. */
export class Cleanup {
  readonly #steps: { readonly name: string; readonly undo: () => unknown }[] = [];
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  add(name: string, undo: () => unknown): void {
    this.#steps.push({ name, undo });
  }

  async run(): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step.undo();
      } catch (error) {
        this.#log.error({ err: error }, `${step.name} did not stop cleanly`);
      }
    }
  }
}
