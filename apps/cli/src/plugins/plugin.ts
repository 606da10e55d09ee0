import type { Transport } from "@shoal/transport";
import type { Command } from "commander";

/** The parts of the command line that a plugin can use. */
export interface PluginContext {
  /** Version of the command `shoal`. */
  readonly version: string;
  /** Aborted by Ctrl-C and SIGTERM; pass it to calls. */
  readonly signal: AbortSignal;
  /**
   * @param command - for its flags `--base-url`, `--project`, `--context`, `--request-timeout` and `--debug`.
   * @throws {Error} without a URL or a key. Do not catch it: the command line prints it with advice.
   */
  connect(command: Command): Promise<Transport>;
  /** Adds `-o, --output` and `--query` to a command that prints its result with `print`. */
  addOutput(command: Command): Command;
  /**
   * Prints a table, JSON, lines of JSON or YAML, or the part selected by `--query`.
   * @param columns - headings and fields of a list's table; all fields by default.
   */
  print(
    command: Command,
    value: unknown,
    columns?: readonly (readonly [heading: string, field: string])[],
  ): Promise<void>;
}

/** The export `registerCommands` of a plugin. It runs before every command, so it must not call the service. */
export type RegisterCommands = (program: Command, context: PluginContext) => void | Promise<void>;
