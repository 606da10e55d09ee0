import { type Command, Option } from "commander";
import type { Adding, CommandEntry, CommandSpec, Flag } from "../core/types.ts";
import { fieldFlag, flagSpelling } from "../table/flag-spelling.ts";
import { markNotYet, notYetExplained } from "../table/not-yet.ts";
import { byName } from "../table/request.ts";
import { flagName, kebab } from "../table/words.ts";
import { collect, examplesHelp, fileOption, outputOption, queryOption } from "./command-line.ts";
import { addName, createdName, takesName } from "./created-name.ts";
import { showsDryRun } from "./dry-run.ts";
import { addSessionArguments, hasSessionArgument, sessionArguments } from "./session-argument.ts";

/** As in a shell. Help does not list them. */
const shortNames: Readonly<Record<string, string>> = {
  delete: "rm",
  "delete-file": "rm",
  list: "ls",
  "list-files": "ls",
  move: "mv",
};

export function addOperation(
  parent: Command,
  spec: CommandSpec,
  { isNotYet, names, run, specOf, specs }: Adding,
): void {
  const { alias = [], examples, silentWithout } = spec.entry;
  const word = spec.words.at(-1) ?? "";
  const short = shortNames[word];
  const missing = isNotYet(spec.operationId);
  const command = showsDryRun(
    parent.command(word, { hidden: spec.deprecated === true, isDefault: spec.entry.isDefault === true }),
  )
    .aliases(short === undefined ? [...alias] : [...alias, short])
    .summary(missing ? markNotYet(spec.summary) : spec.summary)
    .description([spec.summary, spec.description, missing ? notYetExplained : ""].filter(Boolean).join("\n\n"));
  const fieldNames: Record<string, string> = {};
  addArguments(command, spec, fieldNames);
  const flags = addFlags(command, spec, fieldNames);
  addBehaviourFlags(command, spec);
  names.set(command, fieldNames);
  specs.set(command, spec);
  command.addHelpText("after", () =>
    [
      fieldsHelp(spec, run.terminal.width),
      `Request:\n  ${spec.method} ${spec.path}`,
      examplesHelp(examples).trimStart(),
    ]
      .filter(Boolean)
      .map((block) => `\n${block}`)
      .join("\n"),
  );
  command.action(async () => {
    const { runOperation } = await import("../operations/run-operation.ts");
    await runOperation(
      spec,
      {
        options: command.opts(),
        args: hasSessionArgument(spec) ? sessionArguments(command, run) : command.args,
        ...(takesName(spec) && createdName(command, spec)),
        globals: command.optsWithGlobals(),
        flags,
        related: silentWithout && specOf(silentWithout.operation),
      },
      run,
    );
  });
}

function addArguments(command: Command, spec: CommandSpec, fieldNames: Record<string, string>): void {
  const { arguments: positional = [], id, many, rest } = spec.entry;
  const helpOf = (field: string) => spec.flags.find((flag) => flag.field === field)?.description ?? "";
  const named = [
    ...spec.params.map(({ name, description }, index) => ({
      field: name,
      name: kebab(byName(spec, name)),
      isMany: many === true && index === spec.params.length - 1,
      help: name === "id" && id !== undefined ? id : description,
    })),
    ...positional.map((field) => ({ field, name: kebab(field), isMany: false, help: helpOf(field) })),
  ];
  for (const { field, name } of named) fieldNames[field] = `<${name}>`;
  if (hasSessionArgument(spec)) {
    addSessionArguments(
      command,
      named.slice(1).map(({ name, help }) => [name, help]),
    );
    return;
  }
  if (takesName(spec)) {
    addName(command, spec, helpOf("name"));
    return;
  }
  for (const { help, isMany, name } of named) command.argument(`<${name}${isMany ? "..." : ""}>`, help);
  if (rest !== undefined) command.argument(`[${kebab(rest)}...]`, helpOf(rest));
}

/** Adds a flag for each field that is not an argument. @returns the flags by field. */
function addFlags(
  command: Command,
  { entry, flags }: CommandSpec,
  fieldNames: Record<string, string>,
): Record<string, { key: string; name: string }> {
  const { arguments: positional = [], rest } = entry;
  const added: Record<string, { key: string; name: string }> = {};
  for (const flag of flags) {
    if (positional.includes(flag.field) || flag.field === rest) continue;
    const option = optionFor(flag, flagSpelling(entry, flag.field));
    const name = option.long ?? flagName(flag.field);
    added[flag.field] = { key: option.attributeName(), name };
    fieldNames[flag.field] = name;
    if (flag.hidden === true || flag.negated === true) option.hideHelp();
    command.addOption(option);
    if (flag.kind !== "boolean") continue;
    const negation = new Option(`--no-${option.name()}`, option.description);
    command.addOption(flag.negated === true ? negation : negation.hideHelp());
  }
  return added;
}

function addBehaviourFlags(command: Command, spec: CommandSpec): void {
  const { body, entry, result } = spec;
  const isPaged = result === "page" || result === "tokenPage";
  if (isPaged) command.option("--all", "Fetch all pages");
  if (result === "bytes") command.addOption(fileOption("write"));
  if (body === "bytes") command.addOption(fileOption("read"));
  if (entry.confirm !== undefined) command.option("-y, --yes", yesHelp(entry));
  if (entry.watch !== undefined) {
    const what = isPaged || entry.columns !== undefined ? "list" : "result";
    command.option("--watch", `Print the ${what} again whenever it changes, ${watchEnd(entry.watch)}`);
    command.option("--wait", "With --watch, keep waiting if the service stops answering");
  }
  if (result !== "bytes") command.addOption(outputOption());
  if (result !== "bytes" && result !== "empty") command.addOption(queryOption());
}

function yesHelp(entry: CommandEntry): string {
  const { confirmOnly } = entry;
  if (confirmOnly === undefined) return "Do not ask for confirmation";
  const value = confirmOnly.value === true ? "" : ` ${String(confirmOnly.value)}`;
  return `Do not ask for confirmation of ${fieldFlag(entry, confirmOnly.field)}${value}`;
}

function watchEnd({ field, until }: NonNullable<CommandEntry["watch"]>): string {
  return until.length === 0
    ? "until Ctrl-C"
    : `until its ${field} is ${new Intl.ListFormat("en", { type: "disjunction" }).format(until)}`;
}

function fieldsHelp({ fields, result }: CommandSpec, width: number): string {
  if (fields.length === 0) return "";
  const lines: string[] = [];
  let line = "";
  for (const field of fields) {
    if (line !== "" && line.length + field.length + 5 > Math.min(width, 100)) {
      lines.push(`${line},`);
      line = "";
    }
    line += line === "" ? field : `, ${field}`;
  }
  const owner = result === "events" ? "each event" : result === "json" ? "the result" : "each item";
  return `Fields of ${owner}, for --query:\n${[...lines, line].map((text) => `  ${text}`).join("\n")}`;
}

function optionFor(flag: Flag, flags: string): Option {
  const description = describe(flag);
  switch (flag.kind) {
    case "boolean":
      return new Option(flags, description);
    case "map":
      return new Option(`${flags} <${flag.secret === true ? "key[=value]" : "key=value"}>`, description).argParser(
        collect,
      );
    case "list":
      return new Option(`${flags} <value>`, description).argParser(collect);
    case "integer":
    case "number":
      return new Option(`${flags} <number>`, description);
    case "json":
      return new Option(`${flags} <json>`, description);
    case "size":
      return new Option(`${flags} <WxH[@HZ]>`, description);
    case "file":
      return new Option(`${flags} <file>`, description);
    case "string":
      return new Option(
        `${flags} <${flag.values && flag.values.length <= 8 ? flag.values.join("|") : "text"}>`,
        description,
      );
  }
}

/** The text of the flag, then notes on its use in parentheses. */
function describe(flag: Flag): string {
  const { default: value } = flag;
  const [text = "", fallback] = flag.description.split("; default: ", 2);
  const notes = [
    flag.required && "required",
    flag.kind === "list" && flag.values !== undefined && `of ${flag.values.join(", ")}; several with commas`,
    ((flag.kind === "list" && flag.values === undefined) || flag.kind === "map") && "repeatable",
    flag.kind === "json" && "JSON or @FILE",
    flag.secret === true &&
      (flag.kind === "map"
        ? "prompts for a missing value; =- reads stdin, =@FILE a file"
        : "- prompts or reads stdin, @FILE reads a file"),
    fallback !== undefined && `default: ${fallback}`,
    typeof value === "string" && `default: ${value}`,
    typeof value === "number" && `default: ${String(value)}`,
    flag.clearable && "null clears it",
  ].filter((note) => note !== false);
  return notes.length === 0 ? text : `${text} (${notes.join("; ")})`;
}
