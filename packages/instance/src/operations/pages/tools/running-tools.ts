import { ServiceError } from "@shoal/router";
import { tooManyCalls } from "./tool-errors.ts";

const maxRunning = 20;

/** Counts the calls and lists of tools that run in a session. Each has its sessions in the browser. */
export class RunningTools {
  #running = 0;

  /** @throws {ServiceError} 409 at the limit. */
  async count<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= maxRunning) throw ServiceError.of(tooManyCalls(maxRunning));
    this.#running++;
    try {
      return await work();
    } finally {
      this.#running--;
    }
  }
}
