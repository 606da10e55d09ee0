import type { Log } from "../log.ts";

/** What must be undone, last first, when a start fails or the service stops. */
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
