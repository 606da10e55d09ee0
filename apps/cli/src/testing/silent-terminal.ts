import { PassThrough } from "node:stream";
import type { Run, Terminal } from "../core/types.ts";

/** `written()` returns the output on stdout. */
export function silentTerminal(width = 80): Terminal & { written(): string } {
  const stdout = new PassThrough();
  let text = "";
  stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return {
    stdin: new PassThrough(),
    stdout,
    stderr: new PassThrough().resume(),
    print: (printed) => (text += printed),
    help: (printed) => (text += printed),
    interactive: false,
    progress: false,
    keyboard: false,
    screen: false,
    colour: false,
    errorColour: false,
    width,
    written: () => text,
  };
}

export function silentRun(): Run {
  return {
    terminal: silentTerminal(),
    env: {},
    signal: new AbortController().signal,
    dist: new URL("../../dist/", import.meta.url),
    exitWith: () => undefined,
  };
}
