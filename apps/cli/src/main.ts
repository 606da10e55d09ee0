import { CommanderError } from "commander";
import { readFileSync, writeSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";
import type { CommandIndex, CommandSpec, CommandTables, Program, Run, Terminal } from "./core/types.ts";
import { CommandLineError } from "./commands/command-line.ts";
import { exitCodes } from "./core/exit-codes.ts";
import { pluginNames } from "./plugins/plugin-names.ts";
import { buildProgram } from "./commands/program.ts";

const { env } = process;
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

/** @param dist - folder of the bundle and of the tables of commands, which the build derives from openapi.json. */
export async function main(dist: URL): Promise<void> {
  const folder = fileURLToPath(dist);
  const read = (name: string): unknown => JSON.parse(readFileSync(join(folder, "commands", `${name}.json`), "utf8"));
  const tables: CommandTables = {
    index: read("index") as CommandIndex,
    load: (word) => read(`of-${word}`) as CommandSpec[],
  };
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
      const { addPlugins } = await import("./plugins/load-plugins.ts");
      await addPlugins(plugins, program.root, { version: tables.index.version, run });
      program.finish();
    }
    // Called by completion scripts for each press of the Tab key.
    if (args[0] === "__complete") {
      const { complete } = await import("./completion/complete.ts");
      for (const line of await complete(args.slice(args[1] === "--" ? 2 : 1), program, run))
        terminal.stdout.write(`${line}\n`);
      return;
    }
    // Commander supports only one word after help: `shoal help browsers get`.
    await program.root.parseAsync(args[0] === "help" && args.length > 1 ? [...args.slice(1), "--help"] : args, {
      from: "user",
    });
    // The service continues after its command has returned, and exits itself.
    if (stoppedAs !== undefined && program.commandName() !== "shoal serve") process.exit(stoppedAs);
  } catch (error) {
    process.exitCode = await statusOf(error, program);
    // An unread stdin would keep the process alive.
    if (stoppedAs !== undefined || keyboard) process.exit();
  }
}

async function statusOf(error: unknown, program: Program): Promise<number> {
  if (stoppedAs !== undefined) return stoppedAs;
  if (error instanceof CommanderError) return exitCodes.ok.status;
  const [{ report }, { findConnection }] = await Promise.all([
    import("./output/report.ts"),
    import("./connection/settings.ts"),
  ]);
  const connection = findConnection(program.root.opts(), env);
  return report(error, {
    terminal,
    command: error instanceof CommandLineError ? error.command : program.commandName(),
    nameOf: (field) => program.nameOf(field),
    commandOf: (name) => program.commandOf(name),
    keySource: "problem" in connection ? undefined : connection.keySource,
  });
}
