import type { Command } from "commander";
import { addAccountCommands } from "./account-commands.ts";
import { addAppCommands } from "./app-commands.ts";
import { addBrowserCommands } from "./browser-commands.ts";
import { addExportCommands } from "./export-commands.ts";
import type { CommandSpec } from "./command-table.ts";
import { createRoot, examplesHelp } from "./command-line.ts";
import type { Group } from "./groups.ts";
import { addOperation } from "./operation-command.ts";
import type { Terminal } from "./output.ts";
import { addRootCommands } from "./root-commands.ts";
import { addCdpPortCommand } from "./cdp-port-command.ts";
import { addToolCommands } from "./tool-commands.ts";
import { kebab } from "./words.ts";

/** What every command is run with. */
export interface Run {
  readonly terminal: Terminal;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted by Ctrl-C, SIGTERM and SIGHUP, and when whoever reads stdout is gone. */
  readonly signal: AbortSignal;
}

/** What the first look at the command line needs; a group's own commands are read when one of them is asked for. */
export interface CommandIndex {
  readonly version: string;
  /** Ids of operations that the service of this version does not have. */
  readonly notYet: readonly string[];
  /** Operations whose command is a single word. */
  readonly roots: readonly CommandSpec[];
  /** Groups by their words, `browsers fs`. */
  readonly groups: Readonly<Record<string, Group>>;
  /** Names of the tables: the first words of all other operations. */
  readonly tables: readonly string[];
}

/** The table of commands, made when the command was built. */
export interface CommandTables {
  readonly index: CommandIndex;
  /** Operations below one first word. */
  load(word: string): readonly CommandSpec[];
}

/** The command line, and what it says of itself in errors. */
export interface Program {
  readonly root: Command;
  /** To be called when commands were added from outside: their help ends well, and their errors name them. */
  readonly finish: () => void;
  /** The operation behind a command, or the one whose arguments it takes. */
  readonly specFor: (command: Command) => CommandSpec | undefined;
  /** Operations, those of the service and nothing else. */
  readonly operations: (word: string) => readonly CommandSpec[];
  /** Makes the commands below a first word. */
  readonly fill: (word: string) => void;
  /** Makes every command, where only the ones that are asked for would be. */
  readonly fillAll: () => void;
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

/** What commands are added with. */
export interface Adding {
  readonly groupFor: GroupFor;
  readonly run: Run;
  readonly names: FieldNames;
  readonly specs: WeakMap<Command, CommandSpec>;
  /** By command: the operation whose arguments it takes; by name, for a look-up here would read its table for every command. */
  readonly likeOperation: WeakMap<Command, string>;
  readonly specOf: (operationId: string) => CommandSpec;
  /** Whether the service of this version does not have an operation. */
  readonly isNotYet: (operationId: string) => boolean;
}

/** Builds the command line: a command for each operation, and those that are more than one operation. */
export function buildProgram(tables: CommandTables, run: Run): Program {
  const { index } = tables;
  const { root, finish } = createRoot(run.terminal);
  const names: FieldNames = new WeakMap();
  const specs = new WeakMap<Command, CommandSpec>();
  const likeOperation = new WeakMap<Command, string>();
  const made = new Map<string, Command>([["", root]]);
  const groupFor: GroupFor = (words) => {
    const key = words.join(" ");
    const existing = made.get(key);
    if (existing) return existing;
    const { description, alias = [], usage, examples } = index.groups[key] ?? { description: `Operations of ${key}.`, examples: [] };
    const group = groupFor(words.slice(0, -1))
      .command(words.at(-1) ?? "")
      .description(description)
      .aliases([...alias])
      .addHelpText("after", examplesHelp(examples));
    if (usage !== undefined) group.usage(usage);
    made.set(key, group);
    return group;
  };
  const loaded = new Map<string, readonly CommandSpec[]>();
  const load = (word: string) => {
    const specs = loaded.get(word) ?? tables.load(word);
    loaded.set(word, specs);
    return specs;
  };
  const all = () => [...index.roots, ...index.tables.flatMap(load)];
  const adding: Adding = {
    groupFor,
    run,
    names,
    specs,
    likeOperation,
    isNotYet: (operationId) => index.notYet.includes(operationId),
    specOf(operationId) {
      const word = kebab(operationId.split(".")[0] ?? "");
      const spec = (index.tables.includes(word) ? load(word) : all()).find((entry) => entry.operationId === operationId);
      if (!spec) throw new Error(`There is no operation ${operationId}.`);
      return spec;
    },
  };

  addRootCommands(adding);
  addAccountCommands(adding);
  addToolCommands(adding);
  addCdpPortCommand(adding);
  addAppCommands(adding);
  for (const word of index.tables) groupFor([word]);
  for (const spec of index.roots) addOperation(root, spec, adding);
  finish(root);

  const filled = new Set<string>();
  const fill = (word: string) => {
    if (filled.has(word) || !index.tables.includes(word)) return;
    filled.add(word);
    const special = word === "browsers" ? addBrowserCommands(adding) : new Set<string>();
    for (const spec of load(word)) if (!special.has(spec.operationId)) addOperation(groupFor(spec.words.slice(0, -1)), spec, adding);
    if (word === "audit-logs") addExportCommands(adding);
    finish(groupFor([word]));
  };
  root.hook("preSubcommand", (_root, group) => {
    fill(group.name());
  });

  let running: Command | undefined;
  root.hook("preAction", (_root, command) => {
    running = command;
  });
  const snakeCase = (operationId: string) => kebab(operationId.split(".").at(-1) ?? "").replaceAll("-", "_");
  return {
    root,
    finish() {
      finish(root);
    },
    specFor(command) {
      const like = likeOperation.get(command);
      return specs.get(command) ?? (like === undefined ? undefined : adding.specOf(like));
    },
    operations: (word) => (index.tables.includes(word) ? load(word) : []),
    fill,
    fillAll() {
      index.tables.forEach(fill);
    },
    commandName: () => (running ? pathOf(running) : "shoal"),
    nameOf: (field) => running && names.get(running)?.[field],
    commandOf(name) {
      const spec = all().find(({ operationId }) => operationId === name || (name.includes("_") && snakeCase(operationId) === name));
      return spec && ["shoal", ...spec.words].join(" ");
    },
  };
}

/** A command as it is typed: `shoal profiles get`. */
export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
