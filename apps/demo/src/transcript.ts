import { styleText } from "node:util";

/** Prints the steps with their times, and notes. */
export class Transcript {
  readonly #out: NodeJS.WriteStream;
  readonly #began = performance.now();
  #workMs = 0;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  /** Runs one step and prints its time. */
  readonly step = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    try {
      const result = await work();
      this.#line("green", "✓", what, performance.now() - began);
      return result;
    } catch (error) {
      this.#line("red", "✗", what, performance.now() - began);
      throw error;
    }
  };

  readonly note = (text: string): void => {
    this.#out.write(`           ${styleText("dim", text, { stream: this.#out })}\n`);
  };

  /** Prints the closing line with the total time. */
  end(text: string): void {
    this.#out.write(
      `\n${text} ${((performance.now() - this.#began) / 1000).toFixed(1)} s in all, ${(this.#workMs / 1000).toFixed(1)} s of it work.\n`,
    );
  }

  #line(colour: "green" | "red", mark: string, what: string, tookMs: number): void {
    this.#workMs += tookMs;
    this.#out.write(
      `${`${tookMs.toFixed(0)} ms`.padStart(8)} ${styleText(colour, mark, { stream: this.#out })} ${what}\n`,
    );
  }
}
