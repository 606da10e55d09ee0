import { ReadStream } from "node:tty";
import type { Terminal } from "../../core/types.ts";

const interruptKey = "\u0003";

/**
 * Hides keys that a person types while nothing is asked: the terminal would print a password that is typed too early. The keys
 * are dropped, because the next question may be another one.
 */
export class QuietInput {
  readonly #stdin: ReadStream | undefined;
  readonly #setRawMode: ReadStream["setRawMode"] | undefined;
  readonly #onKeys = (keys: Buffer | string): void => {
    // In raw mode, the terminal sends no signal.
    if (String(keys).includes(interruptKey)) process.kill(process.pid, "SIGINT");
  };

  /** Call `end` when the command is over. */
  constructor({ stdin }: Terminal) {
    if (!(stdin instanceof ReadStream)) return;
    this.#stdin = stdin;
    this.#setRawMode = stdin.setRawMode.bind(stdin);
    this.#setRawMode(true);
    // Prompts leave raw mode when they end. Keys in the time until the next step would appear.
    stdin.setRawMode = () => stdin;
    this.drop();
  }

  drop(): void {
    this.#stdin?.off("data", this.#onKeys).on("data", this.#onKeys).resume();
  }

  /** Leaves the keys to a prompt. */
  stopDropping(): void {
    this.#stdin?.off("data", this.#onKeys).pause();
  }

  end(): void {
    this.stopDropping();
    if (this.#stdin === undefined || this.#setRawMode === undefined) return;
    this.#stdin.setRawMode = this.#setRawMode;
    this.#stdin.setRawMode(false);
  }
}
