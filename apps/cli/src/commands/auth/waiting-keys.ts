import { ReadStream } from "node:tty";
import type { Terminal } from "../../core/types.ts";
import { Interrupted } from "./interrupted.ts";

const interruptKey = "\u0003";

/** Reads single keys from the terminal, for waits without a prompt. */
export class WaitingKeys {
  readonly #terminal: Terminal;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** @returns `undefined` when `signal` aborts. @throws {Interrupted} for Ctrl-C. */
  next(signal: AbortSignal): Promise<string | undefined> {
    const { stdin } = this.#terminal;
    if (signal.aborted || !(stdin instanceof ReadStream)) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const end = () => {
        stdin.off("data", onKey);
        signal.removeEventListener("abort", onAbort);
        stdin.setRawMode(false);
        stdin.pause();
      };
      const onAbort = () => {
        end();
        resolve(undefined);
      };
      const onKey = (data: Buffer | string) => {
        end();
        const key = String(data);
        if (key === interruptKey) reject(new Interrupted());
        else resolve(key);
      };
      stdin.setRawMode(true);
      stdin.resume();
      stdin.on("data", onKey);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }
}
