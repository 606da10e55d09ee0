import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

const keptLines = 30;

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ProgramOutput {
  text(): string;
  /** Resolves when the program has ended and its output was read. Never rejects. */
  readonly ended: Promise<Ending>;
}

/** A program that cannot be started ends with code 127 and the reason as output, as in a shell. */
export function followOutput(child: ChildProcess, onLine: (line: string) => void): ProgramOutput {
  const lines: string[] = [];
  const keep = (line: string): void => {
    if (line.trim() === "") return;
    lines.push(line);
    if (lines.length > keptLines) lines.shift();
    onLine(line);
  };
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on("line", keep);
  }
  const ended = new Promise<Ending>((resolve) => {
    child.once("error", (error) => {
      keep(error.message);
      resolve({ code: 127, signal: null });
    });
    child.once("close", (code, signal) => {
      resolve({ code, signal });
    });
  });
  return { text: () => lines.join("\n"), ended };
}
