import { type Command, Option } from "commander";
import type { CommandSpec } from "../core/types.ts";
import { fieldFlag } from "../table/flag-spelling.ts";

/** Whether the command creates something with a name: {@link createdName} then accepts it as an argument and as `--name`. */
export function takesName({ entry, flags, method, params, words }: CommandSpec): boolean {
  const isCreate = method === "POST" && words.at(-1) === "create" && params.length === 0 && entry.rest === undefined;
  return isCreate && flags.some(({ field }) => field === "name") && fieldFlag(entry, "name") === "--name";
}

/** Help lists only the form of the command's entry. */
export function addName(command: Command, { entry }: CommandSpec, help: string): void {
  if (entry.arguments?.includes("name") !== true) {
    command.argument("[name]").usage("[options]");
    return;
  }
  command.argument("[name]", help).usage("[options] <name>");
  command.addOption(new Option("--name <text>").hideHelp());
}

/** @returns the arguments and options of the command, with the name where its entry expects it. */
export function createdName(
  command: Command,
  { entry }: CommandSpec,
): { readonly args: readonly string[]; readonly options: Readonly<Record<string, unknown>> } {
  const options = command.opts<{ readonly name?: string }>();
  const [typed] = command.args;
  if (typed !== undefined && options.name !== undefined)
    return command.error("error: the name is given twice, as an argument and with --name", {
      code: "commander.excessArguments",
    });
  const name = typed ?? options.name;
  if (entry.arguments?.includes("name") !== true)
    return { args: [], options: { ...options, ...(name !== undefined && { name }) } };
  if (name === undefined)
    return command.error("error: missing required argument 'name'", { code: "commander.missingArgument" });
  return { args: [name], options };
}
