import { createInterface, type Interface } from "node:readline";
import type { Terminal } from "../../../core/types.ts";

export interface PromptEvents {
  /** Words that the Tab key completes. */
  readonly words: () => readonly string[];
  readonly onInterrupt: () => void;
}

/** Reads lines from the terminal or a pipe, also while an action runs. */
export class Prompt {
  readonly #reader: Interface;
  // Lines that arrive before `next` would be lost with the iterator of readline.
  readonly #lines: string[] = [];
  #isClosed = false;
  #wake: (() => void) | undefined;

  constructor({ interactive, stdin, stderr }: Terminal, { words, onInterrupt }: PromptEvents) {
    this.#reader = createInterface({
      input: stdin,
      ...(interactive && { output: stderr }),
      terminal: interactive,
      prompt: interactive ? "> " : "",
      completer: (line: string) => [words().filter((word) => word.startsWith(line)), line],
    });
    this.#reader.on("line", (line) => {
      this.#lines.push(line);
      this.#wake?.();
    });
    this.#reader.on("close", () => {
      this.#isClosed = true;
      this.#wake?.();
    });
    this.#reader.on("SIGINT", onInterrupt);
  }

  show(): void {
    if (!this.#isClosed) this.#reader.prompt(true);
  }

  /** @returns `undefined` at the end. */
  async next(): Promise<string | undefined> {
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined || this.#isClosed) return line;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Discards lines that were not read. */
  close(): void {
    this.#lines.length = 0;
    this.#reader.close();
  }
}
