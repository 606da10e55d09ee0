import type { Command } from "commander";
import type { CommandSpec, GlobalFlags, Run } from "../core/types.ts";
import { currentSessionId, findCurrentSession } from "../connection/current-session.ts";

/** Whether the first argument of the operation's command is a session that may be omitted. */
export function hasSessionArgument({ entry, params, path }: CommandSpec): boolean {
  const isOne = entry.many !== true && entry.rest === undefined;
  return isOne && params.length > 0 && /^\/browsers\/\{id(?:_or_name)?\}/.test(path);
}

/** Adds a session as the first argument, and the others, which are required. {@link sessionArguments} reads them. */
export function addSessionArguments(
  command: Command,
  others: readonly (readonly [name: string, description: string])[] = [],
): Command {
  command.argument("[id-or-name]", "ID or name of the session (default: SHOAL_SESSION, or this terminal's)");
  // Commander would count an omitted session as the last argument.
  for (const [name, description] of others) command.argument(`[${name}]`, description);
  return command.usage(["[options]", "[id-or-name]", ...others.map(([name]) => `<${name}>`)].join(" "));
}

/** @returns the arguments as typed, after the current session if it was omitted. */
export function sessionArguments(command: Command, run: Run): readonly string[] {
  const { args, registeredArguments } = command;
  if (args.length >= registeredArguments.length) return args;
  const flags = command.optsWithGlobals<GlobalFlags>();
  if (registeredArguments.length === 1) return [currentSessionId(undefined, flags, run)];
  const session = args.length === registeredArguments.length - 1 ? findCurrentSession(flags, run) : undefined;
  if (session !== undefined) return [session, ...args];
  const name = registeredArguments[Math.max(1, args.length)]?.name() ?? "";
  return command.error(`error: missing required argument '${name}'`, { code: "commander.missingArgument" });
}
