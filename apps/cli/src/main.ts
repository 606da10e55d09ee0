import { writeSync } from "node:fs";
import { constants } from "node:os";
import { isatty } from "node:tty";
import { exitCodes } from "./core/exit-codes.ts";
import type { Terminal } from "./core/types.ts";
import { asTyped, writeAsTyped } from "./output/as-typed.ts";
import { escapeMarks } from "./output/screen-marks.ts";
import { runCommandLine } from "./run-command-line.ts";

const { env } = process;
const typed = env.SHOAL_COMMAND ?? "shoal";
// Programs that this one starts have other names.
delete env.SHOAL_COMMAND;
const isSet = (value: string | undefined) => value !== undefined && value !== "";
const wantsColour = !isSet(env.NO_COLOR) && !process.argv.includes("--no-color") && env.TERM !== "dumb";
const [keyboard, screen, watched] = [0, 1, 2].map((descriptor) => isatty(descriptor)) as [boolean, boolean, boolean];
const size = screen ? process.stdout : watched ? process.stderr : undefined;
const terminal: Terminal = {
  // Opened on first use: an open stdin slows the start and keeps the process alive.
  get stdin() {
    return process.stdin;
  },
  // Opened on first use: a pipe loads Node's network code, which help does not need.
  get stdout() {
    return guarded(process.stdout);
  },
  get stderr() {
    return guarded(process.stderr);
  },
  help(text) {
    terminal.print(asTyped(text, typed));
  },
  print(text) {
    let rest = Buffer.from(text);
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
    } catch {
      // The stream handles a full or closed pipe.
      terminal.stdout.write(rest);
    }
  },
  interactive: keyboard && watched && !isSet(env.CI),
  progress: watched && !isSet(env.CI) && env.TERM !== "dumb",
  keyboard,
  screen,
  colour: screen && wantsColour,
  errorColour: watched && wantsColour,
  width: size === undefined || size.columns <= 0 ? 80 : size.columns,
};

const stop = new AbortController();
let stoppedAs: number | undefined;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    const status = 128 + constants.signals[signal];
    // A second signal exits at once.
    if (stoppedAs !== undefined) process.exit(status);
    stoppedAs = status;
    stop.abort();
  });
}
const guards = new WeakSet<NodeJS.WriteStream>();
function guarded(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  if (guards.has(stream)) return stream;
  guards.add(stream);
  if (stream.isTTY) escapeMarks(stream);
  // Results on stdout stay as they are.
  if (stream === process.stderr) writeAsTyped(stream, typed);
  return stream.on("error", (error: NodeJS.ErrnoException) => {
    if (stream !== process.stdout) return;
    // `shoal … | head` closes the pipe, which is not a failure.
    const isClosedPipe = error.code === "EPIPE";
    if (!isClosedPipe && stoppedAs === undefined)
      printFailure(`cannot write to stdout: ${error.code === "ENOSPC" ? "the disk is full" : error.message}.`);
    stoppedAs ??= isClosedPipe ? exitCodes.ok.status : exitCodes.error.status;
    // The error may arrive after the command has ended.
    process.exitCode = stoppedAs;
    stop.abort();
  });
}

/** Node would print the source line above the error: the whole minified bundle. */
function printFailure(message: string): void {
  try {
    writeSync(2, `error: ${message.replace(/\p{Cc}/gu, " ")}\n`);
  } catch {
    // stderr is closed as well.
  }
}

process.on("uncaughtException", (error) => {
  // The service logs its own failures and shuts down.
  if (process.listenerCount("uncaughtException") > 1) return;
  printFailure(error.message);
  process.exit(stoppedAs ?? exitCodes.error.status);
});

/** @param dist - folder of the bundle and of the tables of commands. */
export async function main(dist: URL): Promise<void> {
  const { command, failed } = await runCommandLine(process.argv.slice(2), {
    terminal,
    env,
    signal: stop.signal,
    dist,
    exitWith(status) {
      process.exitCode = status;
    },
  });
  // The service continues after its command has returned, and exits itself.
  if (stoppedAs !== undefined && (failed || command !== "shoal serve")) process.exit(stoppedAs);
  // An unread stdin would keep the process alive.
  if (failed && keyboard) process.exit();
}
