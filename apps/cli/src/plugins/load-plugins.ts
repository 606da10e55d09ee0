import { messageOf } from "@shoal/primitives";
import type { Command } from "commander";
import { createRequire } from "node:module";
import { isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { GlobalFlags, OutputFormat, Run } from "../core/types.ts";
import { outputOption, queryOption } from "../commands/command-line.ts";
import { ExitError } from "../core/errors.ts";
import { exitCodes } from "../core/exit-codes.ts";
import type { PluginContext, RegisterCommands } from "./plugin.ts";

function located(name: string): string {
  if (name.startsWith(".") || isAbsolute(name)) return pathToFileURL(resolve(name)).href;
  // Packages in the working directory come before packages next to this one.
  try {
    return pathToFileURL(createRequire(join(process.cwd(), "package.json")).resolve(name)).href;
  } catch {
    return pathToFileURL(createRequire(import.meta.url).resolve(name)).href;
  }
}

/** @throws {ExitError} that names a broken plugin. */
export async function addPlugins(
  names: readonly string[],
  program: Command,
  { version, run }: { readonly version: string; readonly run: Run },
): Promise<void> {
  const context = contextFor(version, run);
  for (const name of names) {
    try {
      const module = (await import(located(name))) as { readonly registerCommands?: RegisterCommands };
      if (typeof module.registerCommands !== "function") throw new Error("it must export a function registerCommands");
      await module.registerCommands(program, context);
    } catch (error) {
      throw new ExitError(
        exitCodes.usage.status,
        `Cannot load the plugin ${name}: ${messageOf(error).split("\n", 1).join("")}.`,
        "Plugins are listed in SHOAL_PLUGINS and under plugins in config.json.",
      );
    }
  }
}

function contextFor(version: string, run: Run): PluginContext {
  return {
    version,
    signal: run.signal,
    async connect(command) {
      const { connectChecked } = await import("../connection/transport.ts");
      return connectChecked(command.optsWithGlobals<GlobalFlags>(), run);
    },
    addOutput: (command) => command.addOption(outputOption()).addOption(queryOption()),
    async print(command, value, columns) {
      const { plainSpec, printResult } = await import("../output/print-result.ts");
      const {
        output = "table",
        query,
        quiet = false,
      } = command.optsWithGlobals<{ output?: OutputFormat; query?: string; quiet?: boolean }>();
      const [item] = Array.isArray(value) ? (value as unknown[]) : [];
      const fields = typeof item === "object" && item !== null ? Object.keys(item) : [];
      await printResult({ ...plainSpec, fields, entry: columns ? { columns } : {} }, value, {
        terminal: run.terminal,
        format: output,
        query,
        args: [],
        quiet,
      });
    },
  };
}
