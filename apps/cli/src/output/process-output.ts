import { StringDecoder } from "node:string_decoder";
import type { Terminal } from "../core/types.ts";
import { cell, printableLines } from "./format.ts";

const names = ["stdout", "stderr"] as const;
type Name = (typeof names)[number];

/** Of the streams of a process that a terminal shows: pieces may end within a character. */
const decoders = new WeakMap<Terminal, Readonly<Record<Name, StringDecoder>>>();

/** Writes a piece of output, or the exit status. Only a screen gets text: files and pipes get the bytes. @returns whether it was one. */
export function writeProcessOutput(terminal: Terminal, event: Readonly<Record<string, unknown>>): boolean {
  const { data_b64, exit_code, stream } = event;
  if (typeof data_b64 === "string") {
    write(terminal, stream === "stderr" ? "stderr" : "stdout", Buffer.from(data_b64, "base64"));
    return true;
  }
  if (event.event !== "exit") return false;
  for (const name of names) write(terminal, name, undefined);
  decoders.delete(terminal);
  // A file has the output of the process alone.
  terminal[terminal.screen ? "stdout" : "stderr"].write(`Exited with status ${cell(exit_code)}.\n`);
  return true;
}

/** @param piece - `undefined` = the end. */
function write(terminal: Terminal, name: Name, piece: Buffer | undefined): void {
  const isShown = name === "stdout" ? terminal.screen : terminal.progress;
  if (!isShown) {
    if (piece !== undefined) terminal[name].write(piece);
    return;
  }
  const own = decoders.get(terminal) ?? { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  decoders.set(terminal, own);
  const text = piece === undefined ? own[name].end() : own[name].write(piece);
  if (text !== "") terminal[name].write(printableLines(text));
}
