import { StringDecoder } from "node:string_decoder";
import type { Run, Terminal } from "../core/types.ts";
import { ExitError } from "../core/errors.ts";
import { exitCodes } from "../core/exit-codes.ts";
import type { ActResult, PageObservation, ReplResult } from "@shoal/schemas";
import { actLines, outlineLines } from "./act-lines.ts";
import { cell, printableLines } from "./format.ts";

type Fields = Readonly<Record<string, unknown>>;

const shows: Readonly<Record<"process" | "code" | "repl" | "act" | "outline", (value: Fields, run: Run) => void>> = {
  process: showProcess,
  code: showCode,
  repl: (value, run) => {
    showRepl(value as unknown as ReplResult, run);
  },
  act: showAct,
  outline: showOutline,
};

export function showOutcome(kind: keyof typeof shows, value: object, run: Run): void {
  shows[kind](value as Fields, run);
}

/** Escapes output to a terminal only. */
function write(to: NodeJS.WritableStream, bytes: Buffer, isScreen: boolean): void {
  to.write(isScreen ? printableLines(bytes.toString("utf8")) : bytes);
}

/** Exits with the status of the process. */
function showProcess(
  { stdout_b64, stderr_b64, exit_code, timed_out }: Readonly<Record<string, unknown>>,
  { terminal, exitWith }: Run,
): void {
  const bytes = (text: unknown) => Buffer.from(typeof text === "string" ? text : "", "base64");
  write(terminal.stdout, bytes(stdout_b64), terminal.screen);
  write(terminal.stderr, bytes(stderr_b64), terminal.progress);
  if (timed_out === true)
    throw new ExitError(
      exitCodes.timeout.status,
      "The program reached its timeout and was killed.",
      "Raise --timeout-sec, or start it in the background with: shoal browsers process spawn",
    );
  if (typeof exit_code === "number" && exit_code !== 0) exitWith(exit_code);
}

function showCode(
  { success, result, error, stdout, stderr }: Readonly<Record<string, unknown>>,
  { terminal }: Run,
): void {
  for (const text of [stdout, stderr])
    if (typeof text === "string" && text !== "") terminal.stderr.write(`${printableLines(text.replace(/\n$/, ""))}\n`);
  if (success === false)
    throw new ExitError(exitCodes.error.status, typeof error === "string" ? error : "The code failed.");
  if (result !== undefined)
    terminal.stdout.write(`${typeof result === "string" ? printableLines(result) : JSON.stringify(result, null, 2)}\n`);
}

function showRepl(
  { content, content_truncated, error, repl_terminated, stack, success }: ReplResult,
  { terminal }: Run,
): void {
  for (const { channel, text = "", mime_type: type = "image" } of content) {
    const line = channel === undefined ? `[${type}; use --output json to read it]` : text.replace(/\n$/, "");
    terminal[channel === "stderr" ? "stderr" : "stdout"].write(`${printableLines(line)}\n`);
  }
  if (content_truncated) terminal.stderr.write("Output beyond the limit was dropped.\n");
  if (success) return;
  throw new ExitError(
    exitCodes.error.status,
    printableLines(stack ?? error ?? "The code failed."),
    repl_terminated ? "The process has ended with its state; the next call starts another one." : undefined,
  );
}

function showAct(value: Fields, { terminal }: Run): void {
  terminal.stdout.write(`${actLines(value as unknown as ActResult).join("\n")}\n`);
}

function showOutline(value: Fields, { terminal }: Run): void {
  terminal.stdout.write(`${outlineLines(value as unknown as PageObservation).join("\n")}\n`);
}

const names = ["stdout", "stderr"] as const;
type Name = (typeof names)[number];

/** Of the streams of a process that a terminal shows: pieces may end within a character. */
const decoders = new WeakMap<Terminal, Readonly<Record<Name, StringDecoder>>>();

/** Writes a piece of output, or the exit status. Only a screen gets text: files and pipes get the bytes. @returns whether it was one. */
export function writeProcessOutput(terminal: Terminal, event: Readonly<Record<string, unknown>>): boolean {
  const { data_b64, exit_code, stream } = event;
  if (typeof data_b64 === "string") {
    writePiece(terminal, stream === "stderr" ? "stderr" : "stdout", Buffer.from(data_b64, "base64"));
    return true;
  }
  if (event.event !== "exit") return false;
  for (const name of names) writePiece(terminal, name, undefined);
  decoders.delete(terminal);
  // A file has the output of the process alone.
  terminal[terminal.screen ? "stdout" : "stderr"].write(`Exited with status ${cell(exit_code)}.\n`);
  return true;
}

/** @param piece - `undefined` = the end. */
function writePiece(terminal: Terminal, name: Name, piece: Buffer | undefined): void {
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
