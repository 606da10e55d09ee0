import type { Command } from "commander";
import { createRequire } from "node:module";
import { isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { outputOption, queryOption } from "./command-line.ts";
import type { CommandSpec } from "./command-table.ts";
import type { GlobalFlags } from "./connect.ts";
import { ExitError } from "./exit-error.ts";
import { exitCodes } from "./exit-codes.ts";
import type { OutputFormat } from "./output.ts";
import type { PluginContext, RegisterCommands } from "./plugin.ts";
import type { Run } from "./program.ts";

function located(name: string): string {
  if (name.startsWith(".") || isAbsolute(name)) return pathToFileURL(resolve(name)).href;
  // A package beside the user's work, or beside this one.
  try {
    return pathToFileURL(createRequire(join(process.cwd(), "package.json")).resolve(name)).href;
  } catch {
    return pathToFileURL(createRequire(import.meta.url).resolve(name)).href;
  }
}

/** Lets plugins add their commands. @throws {ExitError} naming the one that cannot be loaded. */
export async function addPlugins(
  names: readonly string[],
  program: Command,
  { version, run }: { readonly version: string; readonly run: Run },
): Promise<void> {
  const context = contextFor(version, run);
  for (const name of names) {
    try {
      const module = (await import(located(name))) as { readonly registerCommands?: RegisterCommands };
      if (typeof module.registerCommands !== "function") throw new Error("it exports no function registerCommands");
      await module.registerCommands(program, context);
    } catch (error) {
      throw new ExitError(
        exitCodes.usage.status,
        `The plugin ${name} cannot be used: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}.`,
        "Plugins are named in SHOAL_PLUGINS and in plugins of config.json.",
      );
    }
  }
}

const bare: CommandSpec = {
  operationId: "",
  words: [],
  summary: "",
  description: "",
  method: "GET",
  path: "",
  params: [],
  flags: [],
  body: "none",
  result: "json",
  responses: {},
  fields: [],
  polish: {},
};

function contextFor(version: string, run: Run): PluginContext {
  return {
    version,
    signal: run.signal,
    async connect(command) {
      const { connectChecked } = await import("./transport.ts");
      return connectChecked(command.optsWithGlobals<GlobalFlags>(), run);
    },
    addOutput: (command) => command.addOption(outputOption()).addOption(queryOption()),
    async print(command, value, columns) {
      const { printResult } = await import("./print-result.ts");
      const { output = "table", query, quiet = false } = command.optsWithGlobals<{ output?: OutputFormat; query?: string; quiet?: boolean }>();
      const [item] = Array.isArray(value) ? (value as unknown[]) : [];
      const fields = typeof item === "object" && item !== null ? Object.keys(item) : [];
      await printResult({ ...bare, fields, polish: columns ? { columns } : {} }, value, {
        terminal: run.terminal,
        format: output,
        query,
        args: [],
        quiet,
      });
    },
  };
}
