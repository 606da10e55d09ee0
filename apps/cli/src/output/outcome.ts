import type { Run } from "../core/types.ts";
import { ExitError } from "../core/errors.ts";
import { exitCodes } from "../core/exit-codes.ts";
import type { ActResult, PageObservation, ReplResult } from "@shoal/schemas";
import { actLines, outlineLines } from "./act-lines.ts";
import { printableLines } from "./format.ts";

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
