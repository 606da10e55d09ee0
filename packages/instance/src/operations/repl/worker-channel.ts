import type { AnsweredError, InstanceMethod } from "./messages.ts";
import { tell } from "./repl-output.ts";

export type AskInstance = (method: InstanceMethod, params: object) => Promise<unknown>;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Questions of the process to its instance. */
export class WorkerChannel {
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  readonly ask: AskInstance = (method, params) =>
    new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#waiting.set(id, { resolve, reject });
      tell({ type: "ask", id, method, params });
    });

  answered(id: number, { error, value }: { readonly value?: unknown; readonly error?: AnsweredError }): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(Object.assign(new Error(error.message), error));
  }
}
