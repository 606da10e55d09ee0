import { hasCode, messageOf } from "@shoal/primitives";
import { writeSync } from "node:fs";

const pauseMs = 100;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes lines of the log at once, so that the last ones before a crash are not lost. A full disk or a closed pipe costs lines,
 * never the service: a later line says how many.
 */
export class LogLines {
  readonly #file: number;
  readonly #lineOf: (text: string, lost: number) => string;
  #lost = 0;
  #reason = "";
  /** The last line is incomplete. */
  #isCut = false;

  /** @param lineOf - returns the line about lost ones. */
  constructor(file: number, lineOf: (text: string, lost: number) => string) {
    this.#file = file;
    this.#lineOf = lineOf;
  }

  write(line: string): void {
    if (this.#lost > 0 && !this.#tryWrite(this.#notice())) {
      this.#lost += 1;
      return;
    }
    this.#lost = 0;
    if (!this.#tryWrite(line)) this.#lost = 1;
  }

  #notice(): string {
    const text = `lines of the log were lost: ${this.#reason}`;
    return `${this.#isCut ? "\n" : ""}${this.#lineOf(text, this.#lost)}\n`;
  }

  #tryWrite(text: string): boolean {
    let rest = Buffer.from(text);
    const { length } = rest;
    try {
      while (rest.length > 0) rest = rest.subarray(this.#writeSome(rest));
    } catch (error) {
      this.#reason = messageOf(error);
      this.#isCut ||= rest.length < length;
      return false;
    }
    this.#isCut = false;
    return true;
  }

  /** @returns the number of bytes. Waits while a pipe is full. */
  #writeSome(bytes: Buffer): number {
    try {
      return writeSync(this.#file, bytes);
    } catch (error) {
      if (!hasCode(error, "EAGAIN")) throw error;
      Atomics.wait(sleeper, 0, 0, pauseMs);
      return 0;
    }
  }
}
