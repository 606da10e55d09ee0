import { CommanderError } from "commander";
import { readFileSync } from "node:fs";
import { buildProgram } from "./commands/program.ts";
import { CommandLineError } from "./commands/command-line.ts";
import { exitCodes } from "./core/exit-codes.ts";
import type { CommandIndex, CommandSpec, CommandTables, Program, Run } from "./core/types.ts";
import { pluginNames } from "./plugins/plugin-names.ts";

export interface Ended {
  /** As typed: `shoal profiles get`. */
  readonly command: string;
  readonly failed: boolean;
}

/** Runs one command line, and reports its error. The build derives the tables of commands from openapi.json. */
export async function runCommandLine(args: readonly string[], run: Run): Promise<Ended> {
  const read = (name: string): unknown => JSON.parse(readFileSync(new URL(`commands/${name}.json`, run.dist), "utf8"));
  const tables: CommandTables = {
    index: read("index") as CommandIndex,
    load: (word) => read(`of-${word}`) as CommandSpec[],
  };
  if (args[0] === "--version" || args[0] === "-v") {
    run.terminal.print(`${tables.index.version}\n`);
    return { command: "shoal", failed: false };
  }
  const program = buildProgram(tables, run);
  try {
    await addNamedPlugins(program, tables.index.version, run);
    await runProgram(program, args, run);
    return { command: program.commandName(), failed: false };
  } catch (error) {
    // A stopped command has the status of its signal.
    if (!run.signal.aborted) run.exitWith(await statusOf(error, program, run));
    return { command: program.commandName(), failed: true };
  }
}

async function addNamedPlugins(program: Program, version: string, run: Run): Promise<void> {
  const plugins = pluginNames(run.env);
  if (plugins.length === 0) return;
  const { addPlugins } = await import("./plugins/load-plugins.ts");
  await addPlugins(plugins, program.root, { version, run });
  program.finish();
}

async function runProgram(program: Program, args: readonly string[], run: Run): Promise<void> {
  // Called by completion scripts for each press of the Tab key.
  if (args[0] === "__complete") {
    const { complete } = await import("./completion/complete.ts");
    for (const line of await complete(args.slice(args[1] === "--" ? 2 : 1), program, run))
      run.terminal.stdout.write(`${line}\n`);
    return;
  }
  const isRootHelp = args[0] === "help" || args[0] === "--help" || args[0] === "-h";
  if (isRootHelp && args[1] === "--all") {
    program.listAll();
    await program.root.parseAsync(["--help"], { from: "user" });
    return;
  }
  // Commander supports only one word after help: `shoal help browsers get`.
  await program.root.parseAsync(args[0] === "help" && args.length > 1 ? [...args.slice(1), "--help"] : args, {
    from: "user",
  });
}

async function statusOf(error: unknown, program: Program, { env, terminal }: Run): Promise<number> {
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
