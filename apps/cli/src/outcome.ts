import type { CommandSpec } from "./command-table.ts";
import { ExitError } from "./exit-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { printableLines } from "./format.ts";
import type { Terminal } from "./output.ts";

/** How the operations of running something are shown to people: as if it had run here. */
const outcomes: Readonly<Record<string, (value: Readonly<Record<string, unknown>>, terminal: Terminal) => void>> = {
  "browsers.process.exec": showExec,
  "browsers.playwright.execute": showPlaywright,
};

/** Shows what was run in a session. @returns whether there is such a way for the operation. */
export function showOutcome(spec: CommandSpec, value: unknown, terminal: Terminal): boolean {
  const show = outcomes[spec.operationId];
  if (!show || typeof value !== "object" || value === null) return false;
  show(value as Readonly<Record<string, unknown>>, terminal);
  return true;
}

/** Bytes for a terminal as what may be shown, for a file as they are. */
function write(to: NodeJS.WritableStream, bytes: Buffer, isScreen: boolean): void {
  to.write(isScreen ? printableLines(bytes.toString("utf8")) : bytes);
}

/** A program's output on the channels that it wrote to, and its exit status as the command's own. */
function showExec({ stdout_b64, stderr_b64, exit_code, timed_out }: Readonly<Record<string, unknown>>, terminal: Terminal): void {
  const bytes = (text: unknown) => Buffer.from(typeof text === "string" ? text : "", "base64");
  write(terminal.stdout, bytes(stdout_b64), terminal.screen);
  write(terminal.stderr, bytes(stderr_b64), terminal.progress);
  if (timed_out === true)
    throw new ExitError(
      exitCodes.timeout.status,
      "The program did not end in time, and was ended.",
      "Raise --timeout-sec, or use: shoal browsers process spawn",
    );
  if (typeof exit_code === "number" && exit_code !== 0) process.exitCode = exit_code;
}

function showPlaywright({ success, result, error, stdout, stderr }: Readonly<Record<string, unknown>>, terminal: Terminal): void {
  for (const text of [stdout, stderr])
    if (typeof text === "string" && text !== "") terminal.stderr.write(`${printableLines(text.replace(/\n$/, ""))}\n`);
  if (success === false) throw new ExitError(exitCodes.error.status, typeof error === "string" ? error : "The code failed.");
  if (result !== undefined) terminal.stdout.write(`${typeof result === "string" ? printableLines(result) : JSON.stringify(result, null, 2)}\n`);
}
