import type { Command } from "commander";
import type { GlobalFlags } from "../core/types.ts";
import { ExitError } from "../core/errors.ts";
import { exitCodes } from "../core/exit-codes.ts";

const showing = new WeakSet<Command>();

/** Declares that the command prints what it would do with `--dry-run`, and changes nothing. */
export function showsDryRun(command: Command): Command {
  showing.add(command);
  return command;
}

/** @throws {ExitError} with `--dry-run`, for a command without {@link showsDryRun}. */
export function refuseDryRun(command: Command): void {
  if (command.optsWithGlobals<GlobalFlags>().dryRun !== true || showing.has(command)) return;
  throw new ExitError(
    exitCodes.usage.status,
    "Nothing was done: this command cannot print its requests.",
    "Run it without --dry-run. With --debug, it logs the requests that it sends.",
  );
}
