import { stripVTControlCharacters } from "node:util";
import { type Argument, Command, type CommanderError, Help, Option } from "commander";
import { UsageError } from "../core/errors.ts";
import { exitCodeHelp } from "../core/exit-codes.ts";
import type { OutputFormat, Terminal } from "../core/types.ts";
import { styled } from "../output/output.ts";

export function examplesHelp(lines: readonly string[] | undefined): string {
  return lines && lines.length > 0 ? `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}` : "";
}

const formats = ["table", "json", "jsonl", "yaml"] as const satisfies readonly OutputFormat[];

export function outputOption(): Option {
  return new Option("-o, --output <format>", "Output format: table, json, yaml, or jsonl (one JSON value per line)")
    .choices(formats)
    .default("table");
}

export function queryOption(): Option {
  return new Option(
    "--query <expression>",
    "Print only the part selected by a JMESPath expression: name, [].id, [?status=='active'].id",
  );
}

export function fileOption(direction: "read" | "write"): Option {
  return new Option(
    "-f, --file <path>",
    direction === "read"
      ? "File to read (default: stdin, as with -)"
      : "File or folder to write to (default: stdout, as with -)",
  );
}

export function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

/** Other commands follow alphabetically, and groups below a group come last. */
const order = [
  "serve",
  "doctor",
  "bench",
  "login",
  "logout",
  "whoami",
  "contexts",
  "console",
  "browsers",
  "browser-pools",
  "profiles",
  "mcp",
  "init",
  "dev",
  "deploy",
  "invoke",
  "logs",
  "health",
  "ready",
  "status",
  "openapi",
  "api",
  "view",
  "completion",
  "create",
  "follow",
  "start",
  "get",
  "list",
  "update",
  "delete",
  "list-files",
  "read-file",
  "write-file",
  "upload",
  "upload-zip",
  "download-dir-zip",
];

function rankOf(command: Command): number {
  // Commands with a heading stay in their order.
  if (command.helpGroup()) return 500;
  const place = order.indexOf(command.name());
  // `logs` is a root command and also a group below `browsers`.
  const isGroup = command.parent?.parent !== null && command.commands.length > 0;
  if (place >= 0 && !isGroup) return place;
  if (command.name() === "help") return 1000;
  return command.commands.length > 0 ? 999 : 500;
}

/** The commands of a first day, which `shoal --help` lists. */
const firstDay = new Set(
  "serve doctor login console browsers mcp init deploy open snapshot click close help".split(" "),
);

function visibleCommands(command: Command): Command[] {
  return new Help()
    .visibleCommands(command)
    .filter((child) => child.name() !== "help" || command.parent === null)
    .sort((a, b) => rankOf(a) - rankOf(b));
}

// main.ts prints the version before commander runs, so commands may have a `--version` flag: the version of an app.
function visibleOptions(this: Help, command: Command): Option[] {
  const options = Help.prototype.visibleOptions.call(this, command);
  return command.parent ? options : [new Option("-v, --version", "Print the version"), ...options];
}

/** Like commander, but with the global options last. */
function formatHelp(this: Help, command: Command, helper: Help): string {
  const blocks = Help.prototype.formatHelp.call(this, command, helper).trimEnd().split("\n\n");
  const isGlobal = (block: string) => stripVTControlCharacters(block).startsWith("Global Options:");
  return `${[...blocks.filter((block) => !isGlobal(block)), ...blocks.filter(isGlobal)].join("\n\n")}\n`;
}

/** Limits the first column to 40% of a narrow terminal; a longer flag gets a separate line. */
function padWidth(this: Help, command: Command, helper: Help): number {
  const limit = Math.max(16, Math.floor((this.helpWidth ?? 80) * 0.4));
  return Math.min(Help.prototype.padWidth.call(this, command, helper), limit);
}

function formatItem(term: string, termWidth: number, description: string, helper: Help): string {
  if (description === "") return `  ${term}`;
  const margin = " ".repeat(termWidth + 4);
  const text = helper.boxWrap(description, (helper.helpWidth ?? 80) - margin.length).replaceAll("\n", `\n${margin}`);
  return term.length > termWidth ? `  ${term}\n${margin}${text}` : `  ${term.padEnd(termWidth)}  ${text}`;
}

function subcommandTerm(command: Command): string {
  return `${command.name()} ${argumentsOf(command)}`.trimEnd();
}

/** @returns such as `[id-or-name] <path>`. */
export function argumentsOf(command: Command): string {
  const [first = ""] = command.registeredArguments.length === 0 ? [] : command.usage().split("\n");
  return first.replace(/\[(?:options|command)\] ?/g, "").trimEnd();
}

/** Adds flags that people know from other programs. Help does not list them. */
function addGuessedFlags(command: Command): void {
  const has = (long: string) => command.options.some((option) => option.long === long);
  const add = (flags: string, implied: Readonly<Record<string, unknown>>) => {
    const option = new Option(flags).implies(implied).hideHelp();
    if (!has(flags)) command.addOption(option);
  };
  if (has("--output")) add("--json", { output: "json" });
  if (has("--no-headless")) for (const flag of ["--headful", "--headed"]) add(flag, { headless: false });
  if (!has("--timeout-seconds") || has("--timeout")) return;
  command.addOption(new Option("--timeout <number>").hideHelp());
  command.on("option:timeout", (value: string) => command.setOptionValue("timeoutSeconds", value));
}

export class RootCommand {
  readonly command: Command;
  readonly #terminal: Terminal;
  #listsAll = false;
  /** Names of all commands but those of plugins. */
  #own: ReadonlySet<string> = new Set();
  /** The help of a group without a command, which commander writes to stderr but is not an error here. */
  #held = "";

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.command = new Command("shoal")
      .description("Real browsers for AI agents, self-hosted.")
      .helpOption("-h, --help", "Print help")
      .helpCommand("help [command]", "Print help for a command; --all lists every command")
      .option("--base-url <url>", "URL of the service (SHOAL_BASE_URL; default: the service on this machine)")
      .option("--project <id-or-name>", "Project to use (SHOAL_PROJECT)")
      .option("--context <name>", "Context to use: a service and its key (SHOAL_CONTEXT)")
      .option("--request-timeout <seconds>", "Timeout of a request in seconds, including retries", Number)
      .option("--dry-run", "Print the request instead of sending it")
      .option("--debug", "Log HTTP traffic to stderr, with secrets redacted")
      .option("-q, --quiet", "Print results and errors only")
      .option("--no-color", "Disable colours (NO_COLOR)");
    this.#configure();
    const examples = [
      "shoal serve",
      "shoal browsers create --name research",
      "shoal browsers fs watch research /home/shoal/Downloads",
    ];
    const more = () =>
      this.#listsAll
        ? `Exit status:\n${exitCodeHelp()}`
        : `shoal help --all lists all ${String(this.command.commands.length)} commands, shoal COMMAND --help explains one.`;
    this.command.addHelpText("after", () => `${examplesHelp(examples)}\n\n${more()}`);
  }

  #configure(): void {
    const terminal = this.#terminal;
    const width = () => Math.min(terminal.width, 100);
    this.command
      .configureHelp({
        showGlobalOptions: true,
        minWidthToWrap: 20,
        subcommandTerm,
        visibleCommands: (command) =>
          visibleCommands(command).filter(
            (each) =>
              command.parent !== null || this.#listsAll || !this.#own.has(each.name()) || firstDay.has(each.name()),
          ),
        visibleOptions,
        formatHelp,
        padWidth,
        formatItem,
        // Aliases of groups work, but usage does not list them.
        commandUsage(command) {
          return Help.prototype.commandUsage.call(this, command).replace(/\|[\w-]+/g, "");
        },
        // Descriptions have choices and defaults already.
        optionDescription: (option) => option.description,
        styleTitle: (title) => styled(terminal, "bold", title),
      })
      .configureOutput({
        writeOut: (text) => {
          terminal.help(text);
        },
        writeErr: (text) => (this.#held += text),
        outputError: () => undefined,
        getOutHelpWidth: width,
        getErrHelpWidth: width,
        getOutHasColors: () => terminal.colour,
        getErrHasColors: () => terminal.colour,
      });
  }

  /** Takes the commands so far as those of which the short help lists a few. */
  listFew(): void {
    this.#own = new Set(this.command.commands.map((command) => command.name()));
  }

  /** Makes the help list every command. */
  listAll(): void {
    this.#listsAll = true;
  }

  /** Print help on stdout, throw {@link CommandLineError}, and accept guessed flags, also for subcommands. Call it after adding commands. */
  finish(command: Command): void {
    command.exitOverride((error) => {
      if (!error.code.startsWith("commander.help"))
        throw new CommandLineError(withOptionHint(error, command), pathOf(command), command.commands);
      this.#terminal.print(this.#held);
      this.#held = "";
      throw error;
    });
    addGuessedFlags(command);
    for (const child of command.commands) this.finish(child);
  }
}

export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/** Turns commander's message into a sentence: `error: unknown option '--nam'\n(Did you mean --name?)`. */
function sentence(text: string): string {
  const bare = text.replace(/^error: /, "").replace(/\n\((.*)\)$/s, ". $1");
  const end = /[.?]$/.test(bare) ? "" : ".";
  return `${bare.charAt(0).toUpperCase()}${bare.slice(1)}${end}`;
}

function optionsOf(command: Command): readonly Option[] {
  return [...command.options, ...(command.parent ? optionsOf(command.parent) : [])];
}

/** Whether the argument is what `--WORD` means: `id` and `name` are `<id-or-name>`. */
function isArgumentFor(word: string, argument: Argument): boolean {
  if (word === "session") return / of the session\b/.test(argument.description);
  return argument.name() === word || argument.name().split("-or-").includes(word);
}

/**
 * Adds flags that contain the typed word to commander's similar flags: `--timeout-seconds` for `--timeout`. For an
 * argument that was typed as a flag, the right form.
 */
function withOptionHint(error: CommanderError, command: Command): CommanderError {
  const typed = error.code === "commander.unknownOption" ? /'--([^'=]+)/.exec(error.message)?.[1] : undefined;
  if (typed === undefined) return error;
  if (command.registeredArguments.some((argument) => isArgumentFor(typed, argument))) {
    error.message = `error: unknown option '--${typed}'. Pass it as an argument: ${pathOf(command)} ${argumentsOf(command)}`;
    return error;
  }
  if (error.message.includes("Did you mean")) return error;
  const longer = optionsOf(command)
    .filter(({ hidden, long }) => !hidden && long?.slice(2).split("-").includes(typed) === true)
    .map(({ long }) => long ?? "");
  if (longer.length > 0)
    error.message += `\n(Did you mean ${new Intl.ListFormat("en", { type: "disjunction" }).format(longer)}?)`;
  return error;
}

/** Suggests a command once instead of once for each alias. */
function withoutAliases(text: string, commands: readonly Command[]): string {
  return text.replace(/Did you mean (?:one of )?(.*)\?$/, (_whole, list: string) => {
    const names = list
      .split(", ")
      .map((name) => commands.find((command) => command.aliases().includes(name))?.name() ?? name);
    return `Did you mean ${new Intl.ListFormat("en", { type: "disjunction" }).format(new Set(names))}?`;
  });
}

export class CommandLineError extends UsageError {
  /** Its help explains the error: `shoal profiles get`. */
  readonly command: string;
  constructor(error: CommanderError, command: string, below: readonly Command[]) {
    super(withoutAliases(sentence(error.message), below), { cause: error });
    this.command = command;
  }
}
