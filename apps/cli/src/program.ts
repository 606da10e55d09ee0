import { Command, CommanderError, Option } from "commander";
import type { CommandSpec, Flag } from "./command-table.ts";
import { exitCodeHelp } from "./exit-codes.ts";
import type { Terminal } from "./output.ts";
import { polish } from "./polish.ts";
import { flagName } from "./values.ts";

/** What every command is run with. */
export interface Run {
  readonly terminal: Terminal;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

const groups: Readonly<Record<string, string>> = {
  browsers: "Start, find, change and end browser sessions.",
  "browsers fs": "Files in a browser session.",
  "browsers fs watch": "Follow changes in a session's directory.",
  profiles: "Saved browser state that sessions start from.",
  "api-keys": "Keys that open the service.",
};

/** `apiKeys` → `api-keys`. */
export function kebab(word: string): string {
  return word.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The words of an operation's command: `browsers.fs.readFile` → `browsers fs read-file`. */
export function commandWords(operationId: string): readonly string[] {
  return polish[operationId]?.words ?? operationId.split(".").map(kebab);
}

function example(lines: readonly string[] | undefined): string {
  return lines ? `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}` : "";
}

/** Builds the command line: a command for each operation, and those that are more than one operation. */
export function buildProgram(version: string, table: readonly CommandSpec[], run: Run): Command {
  const program = new Command("shoal")
    .description("Real browsers for AI agents, on your own machine.")
    .version(version, "-v, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "print help for a command")
    .option("--base-url <url>", "the service (SHOAL_BASE_URL; default: the service of this machine)")
    .option("--project <id-or-name>", "the project to work in (SHOAL_PROJECT)")
    .option("--timeout <seconds>", "give up on a call after this long", (text) => Number(text))
    .option("--no-color", "print without colours (NO_COLOR)")
    .showHelpAfterError("(add --help for what the command takes)")
    .configureOutput({ writeOut: (text) => run.terminal.stdout.write(text), writeErr: (text) => run.terminal.stderr.write(text) })
    .addHelpText("after", `\nExamples:\n  $ shoal serve\n  $ shoal browsers create --name research\n  $ shoal browsers fs watch research /home/shoal/Downloads\n\nExit status:\n${exitCodeHelp()}`)
    .exitOverride();

  const made = new Map<string, Command>([["", program]]);
  const groupFor = (words: readonly string[]): Command => {
    const key = words.join(" ");
    const existing = made.get(key);
    if (existing) return existing;
    const group = groupFor(words.slice(0, -1)).command(words.at(-1) ?? "").description(groups[key] ?? `${key} operations.`).exitOverride();
    made.set(key, group);
    return group;
  };

  addServe(program, run);
  addDoctor(program, run);
  const special = addSpecial(groupFor, run);
  for (const spec of table) if (!special.has(spec.operationId)) addOperation(groupFor(commandWords(spec.operationId).slice(0, -1)), spec, run);
  return program;
}

function addOperation(parent: Command, spec: CommandSpec, run: Run): void {
  const { arguments: positional = [], flags = {}, confirm, examples } = polish[spec.operationId] ?? {};
  const command = parent.command(commandWords(spec.operationId).at(-1) ?? "").summary(spec.summary).description([spec.summary, spec.description].filter(Boolean).join("\n")).exitOverride();
  for (const param of spec.params) command.argument(`<${kebab(param.name).replaceAll("_", "-")}>`, param.description);
  for (const field of positional) command.argument(`<${field.replaceAll("_", "-")}>`, spec.flags.find((flag) => flag.field === field)?.description ?? "");

  const optionKeys: Record<string, string> = {};
  for (const flag of spec.flags) {
    if (positional.includes(flag.field)) continue;
    const option = optionFor(flag, flags[flag.field]);
    optionKeys[flag.field] = option.attributeName();
    command.addOption(option);
    if (flag.kind === "boolean" && flag.default === undefined) command.addOption(new Option(`--no-${option.name()}`, "the opposite").hideHelp());
  }
  if (spec.result === "page") {
    command.option("--all", "every page, not the first alone");
  }
  if (confirm) command.option("-y, --yes", "do not ask");
  command.addOption(new Option("-o, --output <format>", "how to print").choices(spec.result === "events" ? ["table", "jsonl"] : ["table", "json", "jsonl"]).default("table"));
  command.addHelpText("after", example(examples));
  command.action(async () => {
    const { runOperation } = await import("./run-operation.ts");
    await runOperation(spec, { args: command.args, options: command.opts(), globals: command.optsWithGlobals(), positional, optionKeys }, run);
  });
}

function optionFor(flag: Flag, name: string | undefined): Option {
  const description = [
    flag.description,
    ...(flag.values ? [`One of ${flag.values.join(", ")}.`] : []),
    ...(flag.default === undefined ? [] : [`Default: ${JSON.stringify(flag.default)}.`]),
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
      return new Option(`${flags} <text>`, description);
  }
}

function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

function addServe(program: Command, run: Run): void {
  program
    .command("serve")
    .summary("Run the service.")
    .description("Runs the service until it is stopped. Without settings: PostgreSQL, sessions and keys in a data folder of yours, on 127.0.0.1:7777.")
    .allowUnknownOption()
    .allowExcessArguments()
    .helpOption(false)
    .exitOverride()
    .action(async (_options: unknown, command: Command) => {
      const { serve } = await import("./serve.ts");
      await serve(command.args, run);
    });
}

function addDoctor(program: Command, run: Run): void {
  program
    .command("doctor")
    .summary("Tell what this machine has for sessions.")
    .description("Tells which Chromium, which isolation and which database sessions would get on this machine, with one line of advice each.")
    .addOption(new Option("-o, --output <format>", "how to print").choices(["table", "json"]).default("table"))
    .exitOverride()
    .action(async (options: { output: "table" | "json" }) => {
      const { doctor } = await import("./doctor.ts");
      await doctor(options, run);
    });
}

/** Commands that are more than one call, or that move files. @returns the operations that they stand for. */
function addSpecial(groupFor: (words: readonly string[]) => Command, run: Run): Set<string> {
  const fs = groupFor(["browsers", "fs"]);
  const watch = groupFor(["browsers", "fs", "watch"]);

  groupFor(["browsers"])
    .command("view")
    .argument("<id-or-name>", "the session's id or name")
    .summary("Print the address of a session's live view.")
    .description("Prints the address of a session's live view.")
    .addOption(new Option("-o, --output <format>", "how to print").choices(["table", "json"]).default("table"))
    .addHelpText("after", example(["shoal browsers view research"]))
    .exitOverride()
    .action(async (id: string, _options: unknown, command: Command) => {
      const { viewBrowser } = await import("./view.ts");
      await viewBrowser(id, command.optsWithGlobals(), run);
    });

  fs.command("read-file")
    .argument("<id>", "the session's id or name")
    .argument("<path>", "absolute path in the session")
    .option("-f, --file <path>", "write to this file; without it, or with -, to stdout")
    .summary("Read a file.")
    .description("Reads a file of the session, to stdout or into a file.")
    .addHelpText("after", example(["shoal browsers fs read-file research /home/shoal/Downloads/report.pdf -f report.pdf", "shoal browsers fs read-file research /home/shoal/notes.txt | less"]))
    .exitOverride()
    .action(async (id: string, path: string, _options: unknown, command: Command) => {
      const { readFile } = await import("./transfers.ts");
      await readFile({ id, path }, command.optsWithGlobals(), run);
    });

  fs.command("write-file")
    .argument("<id>", "the session's id or name")
    .argument("<path>", "absolute path in the session")
    .option("-f, --file <path>", "read from this file; without it, or with -, from stdin")
    .option("--mode <octal>", "permissions, 644 when absent")
    .summary("Write a file.")
    .description("Writes a file of the session, from stdin or from a file.")
    .addHelpText("after", example(["shoal browsers fs write-file research /home/shoal/input.csv -f input.csv", "echo hello | shoal browsers fs write-file research /home/shoal/hello.txt"]))
    .exitOverride()
    .action(async (id: string, path: string, _options: unknown, command: Command) => {
      const { writeFile } = await import("./transfers.ts");
      await writeFile({ id, path }, command.optsWithGlobals(), run);
    });

  fs.command("upload")
    .argument("<id>", "the session's id or name")
    .argument("<files...>", "files of this machine")
    .requiredOption("--to <directory>", "absolute path of a directory in the session; made when missing")
    .summary("Upload files.")
    .description("Uploads files into a directory of the session: all of them, or none when one fails.")
    .addHelpText("after", example(["shoal browsers fs upload research a.csv b.csv --to /home/shoal/work"]))
    .exitOverride()
    .action(async (id: string, files: string[], _options: unknown, command: Command) => {
      const { upload } = await import("./transfers.ts");
      await upload({ id, files }, command.optsWithGlobals(), run);
    });

  fs.command("upload-zip")
    .argument("<id>", "the session's id or name")
    .argument("<archive>", "a ZIP file of this machine, or - for stdin")
    .requiredOption("--to <directory>", "absolute path of the directory that it is unpacked into; made when missing")
    .summary("Upload a ZIP archive and unpack it.")
    .description("Uploads a ZIP archive and unpacks it into a directory of the session: whole, or not at all.")
    .addHelpText("after", example(["shoal browsers fs upload-zip research site.zip --to /home/shoal/site"]))
    .exitOverride()
    .action(async (id: string, archive: string, _options: unknown, command: Command) => {
      const { uploadZip } = await import("./transfers.ts");
      await uploadZip({ id, archive }, command.optsWithGlobals(), run);
    });

  fs.command("download-dir-zip")
    .argument("<id>", "the session's id or name")
    .argument("<path>", "absolute path of a directory in the session")
    .option("-f, --file <path>", "write to this file; without it, or with -, to stdout")
    .summary("Download a directory as a ZIP archive.")
    .description("Downloads a directory of the session as a ZIP archive.")
    .addHelpText("after", example(["shoal browsers fs download-dir-zip research /home/shoal/Downloads -f downloads.zip"]))
    .exitOverride()
    .action(async (id: string, path: string, _options: unknown, command: Command) => {
      const { downloadZip } = await import("./transfers.ts");
      await downloadZip({ id, path }, command.optsWithGlobals(), run);
    });

  watch
    .command("follow", { isDefault: true })
    .argument("<id>", "the session's id or name")
    .argument("<path>", "absolute path of a directory in the session")
    .option("-r, --recursive", "directories below it too")
    .addOption(new Option("-o, --output <format>", "how to print").choices(["table", "jsonl"]).default("table"))
    .summary("Print changes of a directory as they come, until Ctrl-C.")
    .description("Starts a watch, prints its events as they come, and stops it on Ctrl-C. `shoal browsers fs watch ID PATH` does the same.")
    .addHelpText("after", example(["shoal browsers fs watch research /home/shoal/Downloads", "shoal browsers fs watch research /home/shoal --recursive -o jsonl"]))
    .exitOverride()
    .action(async (id: string, path: string, _options: unknown, command: Command) => {
      const { followDirectory } = await import("./follow.ts");
      await followDirectory({ id, path }, command.optsWithGlobals(), run);
    });

  return new Set(["browsers.fs.readFile", "browsers.fs.writeFile", "browsers.fs.upload", "browsers.fs.uploadZip", "browsers.fs.downloadDirZip"]);
}

export { CommanderError };
