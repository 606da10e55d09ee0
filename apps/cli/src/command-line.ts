import { stripVTControlCharacters } from "node:util";
import { Command, type CommanderError, Help, Option } from "commander";
import { exitCodeHelp } from "./exit-codes.ts";
import { type OutputFormat, styled, type Terminal } from "./output.ts";
import { UsageError } from "./values.ts";

/** What stands below a command's help. */
export function examplesHelp(lines: readonly string[] | undefined): string {
  return lines && lines.length > 0 ? `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}` : "";
}

const formats = ["table", "json", "jsonl", "yaml"] as const satisfies readonly OutputFormat[];

/** `-o`, which every command that prints a result has. For streams, `json` is a line an event too. */
export function outputOption(): Option {
  return new Option("-o, --output <format>", "Print a table for people, json, yaml, or jsonl: a JSON value a line.")
    .choices(formats)
    .default("table");
}

/** `--query`, which every command that prints JSON has. */
export function queryOption(): Option {
  return new Option(
    "--query <expression>",
    "Print only what this JMESPath expression picks from the answer: name, [].id, [?status=='active'].id. Text is printed as it is.",
  );
}

/** Commands in the order in which people meet them; what is not named comes between, groups below a group last. */
const order = [
  "serve",
  "doctor",
  "login",
  "logout",
  "whoami",
  "contexts",
  "browsers",
  "browser-pools",
  "profiles",
  "deploy",
  "invoke",
  "logs",
  "health",
  "ready",
  "status",
  "openapi",
  "api",
  "open",
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

function visibleCommands(this: Help, command: Command): Command[] {
  const rank = (child: Command) => {
    const place = order.indexOf(child.name());
    // `logs` is a command, and a group below `browsers`.
    const isInner = command.parent !== null && child.commands.length > 0;
    return place >= 0 && !isInner ? place : child.name() === "help" ? 1000 : child.commands.length > 0 ? 999 : 500;
  };
  return Help.prototype.visibleCommands
    .call(this, command)
    .filter((child) => child.name() !== "help" || command.parent === null)
    .sort((a, b) => rank(a) - rank(b));
}

function optionDescription(option: Option): string {
  // Without commander's own list of choices and defaults: descriptions say both in words.
  return option.description;
}

/**
 * The command `shoal` itself, with what all commands share.
 *
 * @returns with `finish`, to be called for a command when those below it are there: help then ends well, and what else ends one of them is
 * a {@link CommandLineError} that names it.
 */
export function createRoot(terminal: Terminal): { readonly root: Command; readonly finish: (command: Command) => void } {
  let held = "";
  const root = new Command("shoal")
    .description("Real browsers for AI agents, on your own machine.")
    .helpOption("-h, --help", "Print help.")
    .helpCommand("help [command]", "Print help for a command.")
    .option("--base-url <url>", "The service. SHOAL_BASE_URL; the service of this machine when absent.")
    .option("--project <id-or-name>", "The project to work in. SHOAL_PROJECT; the default one when absent.")
    .option("--context <name>", "The context to work in: a service and its key, from shoal login. SHOAL_CONTEXT.")
    .option("--request-timeout <seconds>", "Give up on a call after this long.", Number)
    .option("--dry-run", "Print the request instead of sending it.")
    .option("--debug", "Tell on stderr what goes over the wire, without secrets.")
    .option("-q, --quiet", "Print results and errors only.")
    .option("--no-color", "Print without colours. NO_COLOR.")
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: (command) =>
        [
          command.name(),
          ...command.registeredArguments.map((argument) =>
            argument.required ? `<${argument.name()}${argument.variadic ? "..." : ""}>` : `[${argument.name()}${argument.variadic ? "..." : ""}]`,
          ),
        ].join(" "),
      visibleCommands,
      // Printed before commands are looked at, so that a command may have a --version of its own: that of an app.
      visibleOptions(command) {
        const options = Help.prototype.visibleOptions.call(this, command);
        return command.parent ? options : [new Option("-v, --version", "Print the version."), ...options];
      },
      // Other names for a group are taken, not advertised.
      commandUsage(command) {
        return Help.prototype.commandUsage.call(this, command).replace(/\|[\w-]+/g, "");
      },
      optionDescription,
      // What every command has comes last.
      formatHelp(command, helper) {
        const blocks = Help.prototype.formatHelp.call(this, command, helper).trimEnd().split("\n\n");
        const isGlobal = (block: string) => stripVTControlCharacters(block).startsWith("Global Options:");
        return `${[...blocks.filter((block) => !isGlobal(block)), ...blocks.filter(isGlobal)].join("\n\n")}\n`;
      },
      minWidthToWrap: 20,
      // One long flag must not push every description off a narrow terminal: it gets a line of its own.
      padWidth(command, helper) {
        return Math.min(Help.prototype.padWidth.call(this, command, helper), Math.max(16, Math.floor((this.helpWidth ?? 80) * 0.4)));
      },
      formatItem(term, termWidth, description, helper) {
        if (description === "") return `  ${term}`;
        const margin = " ".repeat(termWidth + 4);
        const text = helper.boxWrap(description, (helper.helpWidth ?? 80) - margin.length).replaceAll("\n", `\n${margin}`);
        return term.length > termWidth ? `  ${term}\n${margin}${text}` : `  ${term.padEnd(termWidth)}  ${text}`;
      },
      styleTitle: (title) => styled(terminal, "bold", title),
    })
    .configureOutput({
      writeOut: (text) => {
        terminal.print(text);
      },
      // Commander sends the help of a group that was called without a command to stderr, as an error. It is none.
      writeErr: (text) => (held += text),
      outputError: () => undefined,
      getOutHelpWidth: () => Math.min(terminal.width, 100),
      getErrHelpWidth: () => Math.min(terminal.width, 100),
      getOutHasColors: () => terminal.colour,
      getErrHasColors: () => terminal.colour,
    })
    .addHelpText(
      "after",
      `${examplesHelp(["shoal serve", "shoal browsers create --name research", "shoal browsers fs watch research /home/shoal/Downloads"])}\n\nExit status:\n${exitCodeHelp()}`,
    );

  function finish(command: Command, path: string): void {
    command.exitOverride((error) => {
      if (!error.code.startsWith("commander.help")) throw new CommandLineError(withOptionHint(error, command), path, command.commands);
      terminal.print(held);
      held = "";
      throw error;
    });
    for (const child of command.commands) finish(child, `${path} ${child.name()}`);
  }
  const pathOf = (command: Command): string => (command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name());
  return {
    root,
    finish: (command) => {
      finish(command, pathOf(command));
    },
  };
}

/** A sentence out of commander's words: `error: unknown option '--nam'\n(Did you mean --name?)`. */
function sentence(text: string): string {
  const bare = text.replace(/^error: /, "").replace(/\n\((.*)\)$/s, ". $1");
  const end = /[.?]$/.test(bare) ? "" : ".";
  return `${bare.charAt(0).toUpperCase()}${bare.slice(1)}${end}`;
}

function optionsOf(command: Command): readonly Option[] {
  return [...command.options, ...(command.parent ? optionsOf(command.parent) : [])];
}

/** Commander suggests flags that are spelled alike. This adds those that contain the typed one: `--timeout-seconds` for `--timeout`. */
function withOptionHint(error: CommanderError, command: Command): CommanderError {
  const typed = error.code === "commander.unknownOption" ? /'--([^'=]+)/.exec(error.message)?.[1] : undefined;
  if (typed === undefined || error.message.includes("Did you mean")) return error;
  const longer = optionsOf(command)
    .filter(({ hidden, long }) => !hidden && long?.slice(2).split("-").includes(typed) === true)
    .map(({ long }) => long ?? "");
  if (longer.length > 0) error.message += `\n(Did you mean ${new Intl.ListFormat("en", { type: "disjunction" }).format(longer)}?)`;
  return error;
}

/** Suggests a command once, not each of its names. */
function withoutAliases(text: string, commands: readonly Command[]): string {
  return text.replace(/Did you mean (?:one of )?(.*)\?$/, (_whole, list: string) => {
    const names = list.split(", ").map((name) => commands.find((command) => command.aliases().includes(name))?.name() ?? name);
    return `Did you mean ${new Intl.ListFormat("en", { type: "disjunction" }).format(new Set(names))}?`;
  });
}

/** The command line did not fit a command. */
export class CommandLineError extends UsageError {
  /** The command whose help tells what fits: `shoal profiles get`. */
  readonly command: string;
  constructor(error: CommanderError, command: string, below: readonly Command[]) {
    super(withoutAliases(sentence(error.message), below), { cause: error });
    this.command = command;
  }
}
