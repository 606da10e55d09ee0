import { CommanderError } from "commander";
import { readFileSync, writeSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";
import { CommandLineError } from "./command-line.ts";
import type { CommandSpec } from "./command-table.ts";
import { exitCodes } from "./exit-codes.ts";
import type { Terminal } from "./output.ts";
import { pluginNames } from "./plugin-names.ts";
import { buildProgram, type CommandIndex, type CommandTables, type Program, type Run } from "./program.ts";

const { env } = process;
const isSet = (value: string | undefined) => value !== undefined && value !== "";
const wantsColour = !isSet(env.NO_COLOR) && !process.argv.includes("--no-color") && env.TERM !== "dumb";
const [keyboard, screen, watched] = [0, 1, 2].map((descriptor) => isatty(descriptor)) as [boolean, boolean, boolean];
const size = screen ? process.stdout : watched ? process.stderr : undefined;
const terminal: Terminal = {
  // Made when it is asked for: an open stdin costs time at the start and keeps the process up.
  get stdin() {
    return process.stdin;
  },
  // These too: a pipe brings Node's whole network code with it, which help does not need.
  get stdout() {
    return guarded(process.stdout);
  },
  get stderr() {
    return guarded(process.stderr);
  },
  print(text) {
    let rest = Buffer.from(text);
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
    } catch {
      // A pipe that is full, or nobody's any more: its stream waits, and tells.
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
    // A second one does not wait for anything.
    if (stoppedAs !== undefined) process.exit(status);
    stoppedAs = status;
    stop.abort();
  });
}
const guards = new WeakSet<NodeJS.WriteStream>();
function guarded(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  if (guards.has(stream)) return stream;
  guards.add(stream);
  return stream.on("error", (error: NodeJS.ErrnoException) => {
    if (stream !== process.stdout) return;
    // `shoal … | head` closes the pipe: that is an end, not a failure. Either way the command cleans up after itself.
    const isClosedPipe = error.code === "EPIPE";
    if (!isClosedPipe && stoppedAs === undefined)
      sayFailure(`stdout cannot be written: ${error.code === "ENOSPC" ? "the disk is full" : error.message}.`);
    stoppedAs ??= isClosedPipe ? exitCodes.ok.status : exitCodes.error.status;
    // The error may come after the command has ended.
    process.exitCode = stoppedAs;
    stop.abort();
  });
}

/** Writes one line: Node would print the bundle's only line, ten thousand characters of code, above the error. */
function sayFailure(message: string): void {
  try {
    writeSync(2, `error: ${message.replace(/\p{Cc}/gu, " ")}\n`);
  } catch {
    // Nothing is left to write to.
  }
}

process.on("uncaughtException", (error) => {
  // The service handles its own failures: it logs them and closes.
  if (process.listenerCount("uncaughtException") > 1) return;
  sayFailure(error.message);
  process.exit(stoppedAs ?? exitCodes.error.status);
});

/**
 * Runs the command that the arguments name, and sets the exit status.
 *
 * @param dist - the folder of the bundle, with the tables of commands that were made at build time from openapi.json.
 */
export async function main(dist: URL): Promise<void> {
  const folder = fileURLToPath(dist);
  const read = (name: string): unknown => JSON.parse(readFileSync(join(folder, "commands", `${name}.json`), "utf8"));
  const tables: CommandTables = { index: read("index") as CommandIndex, load: (word) => read(`of-${word}`) as CommandSpec[] };
  const args = process.argv.slice(2);
  if (args[0] === "--version" || args[0] === "-v") {
    terminal.print(`${tables.index.version}\n`);
    return;
  }
  const run: Run = { terminal, env, signal: stop.signal };
  const program = buildProgram(tables, run);
  try {
    const plugins = pluginNames(env);
    if (plugins.length > 0) {
      const { addPlugins } = await import("./plugins.ts");
      await addPlugins(plugins, program.root, { version: tables.index.version, run });
      program.finish();
    }
    // Asked by shells for every press of the Tab key; no command of people's.
    if (args[0] === "__complete") {
      const { complete } = await import("./complete.ts");
      for (const line of await complete(args.slice(args[1] === "--" ? 2 : 1), program, run)) terminal.stdout.write(`${line}\n`);
      return;
    }
    // `shoal help browsers get`: commander looks one word deep.
    await program.root.parseAsync(args[0] === "help" && args.length > 1 ? [...args.slice(1), "--help"] : args, { from: "user" });
    // The service goes on after its command has returned, and ends the process itself.
    if (stoppedAs !== undefined && program.commandName() !== "shoal serve") process.exit(stoppedAs);
  } catch (error) {
    process.exitCode = await statusOf(error, program);
    // An unread stdin would keep the process up.
    if (stoppedAs !== undefined || keyboard) process.exit();
  }
}

async function statusOf(error: unknown, program: Program): Promise<number> {
  if (stoppedAs !== undefined) return stoppedAs;
  if (error instanceof CommanderError) return exitCodes.ok.status;
  const [{ report }, { findConnection }] = await Promise.all([import("./report.ts"), import("./settings.ts")]);
  const connection = findConnection(program.root.opts(), env);
  return report(error, {
    terminal,
    command: error instanceof CommandLineError ? error.command : program.commandName(),
    nameOf: program.nameOf,
    commandOf: program.commandOf,
    keySource: "problem" in connection ? undefined : connection.keySource,
  });
}
