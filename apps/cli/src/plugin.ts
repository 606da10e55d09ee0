import type { Transport } from "@shoal/transport";
import type { Command } from "commander";

/** What a plugin's commands are given of the command line that they join. */
export interface PluginContext {
  /** Of the command `shoal`. */
  readonly version: string;
  /** Aborted by Ctrl-C and SIGTERM; hand it to calls. */
  readonly signal: AbortSignal;
  /**
   * A transport to the service that the command line, the environment or the context names, for endpoints of any contract.
   *
   * @param command - the command that runs, for its flags `--base-url`, `--project`, `--context`, `--request-timeout` and `--debug`.
   * @throws {Error} without an address or a key, with what to do; let it pass.
   */
  connect(command: Command): Promise<Transport>;
  /** Adds the flags `-o, --output` and `--query` to a command whose result is printed with `print`. */
  addOutput(command: Command): Command;
  /**
   * Prints a result as the command's flags ask: a table, JSON, lines of JSON or YAML, or what `--query` picks.
   *
   * @param columns - of a list's table: headings and fields; every field when absent.
   */
  print(command: Command, value: unknown, columns?: readonly (readonly [heading: string, field: string])[]): Promise<void>;
}

/**
 * What a plugin's module exports as `registerCommands`: adds commands to `program`, with commander. It must not call the service while it
 * registers: it runs before every command.
 */
export type RegisterCommands = (program: Command, context: PluginContext) => void | Promise<void>;
