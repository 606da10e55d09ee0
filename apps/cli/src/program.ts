import { type Command, Option } from "commander";
import { addSpecialCommands } from "./special-commands.ts";
import type { CommandSpec, Flag } from "./command-table.ts";
import { commandWords, createRoot, examplesHelp, kebab, outputOption } from "./command-line.ts";
import type { Terminal } from "./output.ts";
import { polish } from "./polish.ts";
import { flagName } from "./values.ts";

/** What every command is run with. */
export interface Run {
  readonly terminal: Terminal;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted by Ctrl-C, SIGTERM and SIGHUP, and when whoever reads stdout is gone. */
  readonly signal: AbortSignal;
}

/** The command line, and what it says of itself in errors. */
export interface Program {
  readonly root: Command;
  /** The command that runs, as it is typed: `shoal profiles get`. */
  readonly commandName: () => string;
  /** How the command that runs takes a field of the wire: `--timeout-seconds`, `<path>`. */
  readonly nameOf: (field: string) => string | undefined;
  /** The command of an operation, as it is typed; by the operation's id, `profiles.get`, or its name, `list_files`. */
  readonly commandOf: (name: string) => string | undefined;
}

/** By command: how it takes a field of the wire. */
export type FieldNames = WeakMap<Command, Readonly<Record<string, string>>>;

/** Words of a group to its command, made when it is missing. */
export type GroupFor = (words: readonly string[]) => Command;

interface Group {
  readonly description: string;
  readonly alias?: readonly string[];
  readonly usage?: string;
  readonly examples: readonly string[];
}

const groups: Readonly<Record<string, Group>> = {
  browsers: { description: "Start, find, change and end browser sessions.", alias: ["browser"], examples: ["shoal browsers create --name research", "shoal browsers list", "shoal browsers delete research"] },
  "browsers fs": {
    description: "Files in a browser session.",
    examples: ["shoal browsers fs list-files research /home/shoal/Downloads", "shoal browsers fs upload research a.csv --to /home/shoal/work", "shoal browsers fs watch research /home/shoal/Downloads"],
  },
  "browsers fs watch": {
    description: "Follow changes in a directory: with a session and a path until Ctrl-C, or step by step with the commands below.",
    usage: "[options] <id-or-name> <path>\n       shoal browsers fs watch [command]",
    examples: ["shoal browsers fs watch research /home/shoal/Downloads", "shoal browsers fs watch research /home/shoal --recursive -o jsonl"],
  },
  profiles: { description: "Saved browser state that sessions start from.", alias: ["profile"], examples: ["shoal profiles create --name shopping", "shoal profiles list"] },
  "api-keys": { description: "Keys that open the service.", alias: ["api-key", "apikeys", "apikey"], examples: ["shoal api-keys create --name ci --days-to-expire 90", "shoal api-keys list"] },
};

/** Builds the command line: a command for each operation, and those that are more than one operation. */
export function buildProgram(version: string, table: readonly CommandSpec[], run: Run): Program {
  const { root, finish } = createRoot(version, run.terminal);
  const names: FieldNames = new WeakMap();
  const made = new Map<string, Command>([["", root]]);
  const groupFor: GroupFor = (words) => {
    const key = words.join(" ");
    const existing = made.get(key);
    if (existing) return existing;
    const { description, alias = [], usage, examples } = groups[key] ?? { description: `Operations of ${key}.`, examples: [] };
    const group = groupFor(words.slice(0, -1)).command(words.at(-1) ?? "").description(description).aliases(alias).addHelpText("after", examplesHelp(examples));
    if (usage !== undefined) group.usage(usage);
    made.set(key, group);
    return group;
  };

  const special = addSpecialCommands(groupFor, { run, names });
  for (const spec of table) {
    if (special.has(spec.operationId)) continue;
    addOperation(groupFor(commandWords(spec.operationId).slice(0, -1)), spec, { run, names });
  }
  finish();

  let running: Command | undefined;
  root.hook("preAction", (_root, command) => {
    running = command;
  });
  const snakeCase = (operationId: string) => kebab(operationId.split(".").at(-1) ?? "").replaceAll("-", "_");
  return {
    root,
    commandName: () => (running ? pathOf(running) : "shoal"),
    nameOf: (field) => running && names.get(running)?.[field],
    commandOf(name) {
      const spec = table.find(({ operationId }) => operationId === name || (name.includes("_") && snakeCase(operationId) === name));
      return spec && ["shoal", ...commandWords(spec.operationId)].join(" ");
    },
  };
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

function addOperation(parent: Command, spec: CommandSpec, { run, names }: { readonly run: Run; readonly names: FieldNames }): void {
  const { arguments: positional = [], confirm, examples, flags: custom = {}, id } = polish[spec.operationId] ?? {};
  const command = parent.command(commandWords(spec.operationId).at(-1) ?? "").summary(spec.summary).description([spec.summary, spec.description].filter(Boolean).join("\n"));
  const fieldNames: Record<string, string> = {};
  for (const param of spec.params) {
    const byName = param.name === "id" && id !== undefined;
    const name = byName ? "id-or-name" : kebab(param.name);
    fieldNames[param.name] = `<${name}>`;
    command.argument(`<${name}>`, byName ? id : param.description);
  }
  for (const field of positional) {
    fieldNames[field] = `<${kebab(field)}>`;
    command.argument(`<${kebab(field)}>`, spec.flags.find((flag) => flag.field === field)?.description ?? "");
  }

  const flags: Record<string, { key: string; name: string }> = {};
  for (const flag of spec.flags) {
    if (positional.includes(flag.field)) continue;
    const option = optionFor(flag, custom[flag.field]);
    const name = option.long ?? flagName(flag.field);
    flags[flag.field] = { key: option.attributeName(), name };
    fieldNames[flag.field] = name;
    command.addOption(option);
    if (flag.kind === "boolean") command.addOption(new Option(`--no-${option.name()}`, "The opposite.").hideHelp());
  }
  if (spec.result === "page") command.option("--all", "Every page, not the first alone.");
  if (confirm !== undefined) command.option("-y, --yes", "Do not ask.");
  names.set(command, fieldNames);
  command.addOption(outputOption());
  command.addHelpText("after", examplesHelp(examples));
  command.action(async () => {
    const { runOperation } = await import("./run-operation.ts");
    await runOperation(spec, { args: command.args, options: command.opts(), globals: command.optsWithGlobals(), positional, flags }, run);
  });
}

function optionFor(flag: Flag, name: string | undefined): Option {
  const description = [
    flag.description,
    ...(flag.kind === "list" || flag.kind === "map" ? ["May be given several times."] : []),
    ...(flag.default === undefined || flag.default === false ? [] : [`Default: ${typeof flag.default === "string" ? flag.default : JSON.stringify(flag.default)}.`]),
    ...(flag.clearable ? ["The word null takes it away."] : []),
    ...(flag.required ? ["Required."] : []),
  ].join(" ");
  const flags = name ?? flagName(flag.field);
  switch (flag.kind) {
    case "boolean":
      return new Option(flags, description);
    case "map":
      return new Option(`${flags} <key=value>`, description).argParser(collect);
    case "list":
      return new Option(`${flags} <value>`, description).argParser(collect);
    case "integer":
    case "number":
      return new Option(`${flags} <number>`, description);
    case "json":
      return new Option(`${flags} ${flag.field === "viewport" ? "<WxH[@HZ]>" : "<json>"}`, description);
    case "string":
      return new Option(`${flags} <${flag.values ? flag.values.join("|") : "text"}>`, description);
  }
}

function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}
