import { Command, type CommanderError, Help, Option } from "commander";
import { exitCodeHelp } from "./exit-codes.ts";
import { type OutputFormat, styled, type Terminal } from "./output.ts";
import { polish } from "./polish.ts";
import { UsageError } from "./values.ts";

/** `apiKeys` → `api-keys`. */
export function kebab(word: string): string {
  return word.replaceAll("_", "-").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The words of an operation's command: `browsers.fs.readFile` → `browsers fs read-file`. */
export function commandWords(operationId: string): readonly string[] {
  return polish[operationId]?.words ?? operationId.split(".").map(kebab);
}

/** What stands below a command's help. */
export function examplesHelp(lines: readonly string[] | undefined): string {
  return lines && lines.length > 0 ? `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}` : "";
}

const formats = ["table", "json", "jsonl"] as const satisfies readonly OutputFormat[];

/** `-o`, which every command that prints a result has. For streams, `json` is a line an event too. */
export function outputOption(): Option {
  return new Option("-o, --output <format>", "Print a table for people, json, or jsonl: a JSON value a line.").choices(formats).default("table");
}

/** Commands in the order in which people meet them; what is not named comes between, groups below a group last. */
const order = ["serve", "doctor", "browsers", "profiles", "api-keys", "health", "ready", "openapi", "create", "follow", "start", "get", "list", "update", "delete", "list-files", "read-file", "write-file", "upload", "upload-zip", "download-dir-zip"];

function visibleCommands(this: Help, command: Command): Command[] {
  const rank = (child: Command) => {
    const place = order.indexOf(child.name());
    return place >= 0 ? place : child.name() === "help" ? 1000 : child.commands.length > 0 ? 999 : 500;
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
 * @returns with `finish`, to be called when every command is there: help then ends well, and what else ends a command is a
 * {@link CommandLineError} that names it.
 */
export function createRoot(version: string, terminal: Terminal): { readonly root: Command; readonly finish: () => void } {
  let held = "";
  const root = new Command("shoal")
    .description("Real browsers for AI agents, on your own machine.")
    .version(version, "-v, --version", "Print the version.")
    .helpOption("-h, --help", "Print help.")
    .helpCommand("help [command]", "Print help for a command.")
    .option("--base-url <url>", "The service. SHOAL_BASE_URL; the service of this machine when absent.")
    .option("--project <id-or-name>", "The project to work in. SHOAL_PROJECT; the default one when absent.")
    .option("--timeout <seconds>", "Give up on a call after this long.", Number)
    .option("--no-color", "Print without colours. NO_COLOR.")
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: (command) => [command.name(), ...command.registeredArguments.map((argument) => (argument.variadic ? `<${argument.name()}...>` : argument.required ? `<${argument.name()}>` : `[${argument.name()}]`))].join(" "),
      visibleCommands,
      visibleGlobalOptions(command) {
        return Help.prototype.visibleGlobalOptions.call(this, command).filter(({ long }) => long !== "--version");
      },
      // Other names for a group are taken, not advertised.
      commandUsage(command) {
        return Help.prototype.commandUsage.call(this, command).replace(/\|[\w-]+/g, "");
      },
      optionDescription,
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
      writeOut: (text) => terminal.stdout.write(text),
      // Commander sends the help of a group that was called without a command to stderr, as an error. It is none.
      writeErr: (text) => (held += text),
      outputError: () => undefined,
      getOutHelpWidth: () => Math.min(terminal.width, 100),
      getErrHelpWidth: () => Math.min(terminal.width, 100),
      getOutHasColors: () => terminal.colour,
      getErrHasColors: () => terminal.colour,
    })
    .addHelpText("after", `${examplesHelp(["shoal serve", "shoal browsers create --name research", "shoal browsers fs watch research /home/shoal/Downloads"])}\n\nExit status:\n${exitCodeHelp()}`);

  function finish(command: Command, path: string): void {
    command.exitOverride((error) => {
      if (!/^commander\.(help|version)/.test(error.code)) throw new CommandLineError(error, path, command.commands);
      terminal.stdout.write(held);
      held = "";
      throw error;
    });
    for (const child of command.commands) finish(child, `${path} ${child.name()}`);
  }
  return { root, finish: () => { finish(root, root.name()); } };
}

/** A sentence out of commander's words: `error: unknown option '--nam'\n(Did you mean --name?)`. */
function sentence(text: string): string {
  const bare = text.replace(/^error: /, "").replace(/\n\((.*)\)$/s, ". $1");
  const end = /[.?]$/.test(bare) ? "" : ".";
  return `${bare.charAt(0).toUpperCase()}${bare.slice(1)}${end}`;
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
