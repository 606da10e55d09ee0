import type { Command } from "commander";
import type { Adding, CommandSpec, CommandTables, Program, Run } from "../core/types.ts";
import { kebab } from "../table/words.ts";
import { addAccountCommands } from "./account/account-commands.ts";
import { addAuthCommands } from "./auth/auth-commands.ts";
import { addAppCommands, addAppsCommands } from "./apps/app-commands.ts";
import { addBrowserCommands } from "./browsers/browser-commands.ts";
import { addCdpPortCommand } from "./browsers/cdp-port-command.ts";
import { examplesHelp, pathOf, RootCommand } from "./command-line.ts";
import { refuseDryRun } from "./dry-run.ts";
import { addExportCommands } from "./export-commands.ts";
import { addOperation } from "./operation-command.ts";
import { addMcpCommands } from "./mcp/mcp-commands.ts";
import { addPageCommands } from "./pages/page-commands.ts";
import { addRenderCommand } from "./pages/render-command.ts";
import { addSkillCommands } from "./skill/skill-commands.ts";
import { addEvidenceCommands } from "./evidence/evidence-commands.ts";
import { addSessionCommands } from "./sessions/session-commands.ts";
import { addServiceCommands } from "./service/service-commands.ts";
import { addToolCommands } from "./tools/tool-commands.ts";

export function buildProgram(tables: CommandTables, run: Run): Program {
  return new CommandProgram(tables, run);
}

/** Creates the commands below a first word only when one of them is called, because each table costs time to read. */
class CommandProgram implements Program {
  readonly root: Command;
  readonly #tables: CommandTables;
  readonly #rootCommand: RootCommand;
  readonly #adding: Adding;
  readonly #groups = new Map<string, Command>();
  readonly #loaded = new Map<string, readonly CommandSpec[]>();
  readonly #filled = new Set<string>();
  #running: Command | undefined;

  constructor(tables: CommandTables, run: Run) {
    const { index } = tables;
    this.#tables = tables;
    this.#rootCommand = new RootCommand(run.terminal);
    this.root = this.#rootCommand.command;
    this.#adding = {
      run,
      version: index.version,
      names: new WeakMap(),
      specs: new WeakMap(),
      likeOperation: new WeakMap(),
      groupFor: (words) => this.#groupFor(words),
      isNotYet: (operationId) => index.notYet.includes(operationId),
      specOf: (operationId) => this.#specOf(operationId),
    };
    addServiceCommands(this.#adding);
    addAccountCommands(this.#adding);
    addToolCommands(this.#adding);
    addCdpPortCommand(this.#adding);
    addMcpCommands(this.#adding);
    addSkillCommands(this.#adding);
    addAppCommands(this.#adding);
    addPageCommands(this.#adding);
    addRenderCommand(this.#adding);
    addSessionCommands(this.#adding);
    addEvidenceCommands(this.#adding);
    for (const word of index.tables) this.#groupFor([word]);
    for (const spec of index.roots) addOperation(this.root, spec, this.#adding);
    this.#rootCommand.listFew();
    this.finish();
    this.root.hook("preSubcommand", (_root, group) => {
      this.fill(group.name());
    });
    this.root.hook("preAction", (_root, command) => {
      this.#running = command;
      refuseDryRun(command);
    });
  }

  listAll(): void {
    this.#rootCommand.listAll();
  }

  finish(): void {
    this.#rootCommand.finish(this.root);
  }

  fill(word: string): void {
    if (this.#filled.has(word) || !this.#tables.index.tables.includes(word)) return;
    this.#filled.add(word);
    if (word === "browsers") addBrowserCommands(this.#adding);
    for (const spec of this.#load(word))
      if (spec.entry.handwritten !== true) addOperation(this.#groupFor(spec.words.slice(0, -1)), spec, this.#adding);
    if (word === "audit-logs") addExportCommands(this.#adding);
    if (word === "apps") addAppsCommands(this.#adding);
    if (word === "auth") addAuthCommands(this.#adding);
    this.#rootCommand.finish(this.#groupFor([word]));
  }

  fillAll(): void {
    for (const word of this.#tables.index.tables) this.fill(word);
  }

  operations(word: string): readonly CommandSpec[] {
    return this.#tables.index.tables.includes(word) ? this.#load(word) : [];
  }

  specFor(command: Command): CommandSpec | undefined {
    const { likeOperation, specs } = this.#adding;
    const like = likeOperation.get(command);
    return specs.get(command) ?? (like === undefined ? undefined : this.#specOf(like));
  }

  commandName(): string {
    return this.#running ? pathOf(this.#running) : "shoal";
  }

  nameOf(field: string): string | undefined {
    return this.#running && this.#adding.names.get(this.#running)?.[field];
  }

  commandOf(name: string): string | undefined {
    const snakeCase = (operationId: string) => kebab(operationId.split(".").at(-1) ?? "").replaceAll("-", "_");
    const spec = this.#all().find(
      ({ operationId }) => operationId === name || (name.includes("_") && snakeCase(operationId) === name),
    );
    return spec && ["shoal", ...spec.words].join(" ");
  }

  #groupFor(words: readonly string[]): Command {
    const key = words.join(" ");
    if (key === "") return this.root;
    const existing = this.#groups.get(key);
    if (existing) return existing;
    const help = this.#tables.index.groups[key] ?? { description: `Commands of ${key}`, examples: [] };
    const group = this.#groupFor(words.slice(0, -1))
      .command(words.at(-1) ?? "")
      .description(help.description)
      .aliases([...(help.alias ?? [])])
      .addHelpText("after", examplesHelp(help.examples));
    if (help.usage !== undefined) group.usage(help.usage);
    this.#groups.set(key, group);
    return group;
  }

  #load(word: string): readonly CommandSpec[] {
    const specs = this.#loaded.get(word) ?? this.#tables.load(word);
    this.#loaded.set(word, specs);
    return specs;
  }

  #all(): readonly CommandSpec[] {
    return [...this.#tables.index.roots, ...this.#tables.index.tables.flatMap((word) => this.#load(word))];
  }

  #specOf(operationId: string): CommandSpec {
    const word = kebab(operationId.split(".")[0] ?? "");
    const specs = this.#tables.index.tables.includes(word) ? this.#load(word) : this.#all();
    const spec = specs.find((each) => each.operationId === operationId);
    if (!spec) throw new Error(`The table of commands lacks the operation ${operationId}. Rebuild the command.`);
    return spec;
  }
}
