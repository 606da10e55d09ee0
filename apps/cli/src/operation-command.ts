import { type Command, Option } from "commander";
import { examplesHelp, outputOption, queryOption } from "./command-line.ts";
import type { CommandSpec, Flag } from "./command-table.ts";
import { fieldFlag, flagSpelling } from "./flag-spelling.ts";
import { markNotYet, notYetExplained } from "./not-yet.ts";
import type { Adding } from "./program.ts";
import { byName, isSecret } from "./values.ts";
import { flagName, kebab } from "./words.ts";

/** Adds the command of one operation. */
export function addOperation(parent: Command, spec: CommandSpec, { isNotYet, names, run, specOf, specs }: Adding): void {
  const { arguments: positional = [], rest, alias = [], confirm, confirmOnly, examples, id, many, silentWithout, watch } = spec.polish;
  const command = parent
    .command(spec.words.at(-1) ?? "", { hidden: spec.deprecated === true })
    .aliases([...alias])
    .summary(isNotYet(spec.operationId) ? markNotYet(spec.summary) : spec.summary)
    .description([spec.summary, spec.description, isNotYet(spec.operationId) ? notYetExplained : ""].filter(Boolean).join("\n"));
  const fieldNames: Record<string, string> = {};
  spec.params.forEach((param, index) => {
    const name = kebab(byName(spec, param.name));
    const isMany = many === true && index === spec.params.length - 1;
    fieldNames[param.name] = `<${name}>`;
    command.argument(`<${name}${isMany ? "..." : ""}>`, param.name === "id" && id !== undefined ? id : param.description);
  });
  for (const field of positional) {
    fieldNames[field] = `<${kebab(field)}>`;
    command.argument(`<${kebab(field)}>`, spec.flags.find((flag) => flag.field === field)?.description ?? "");
  }
  if (rest !== undefined) command.argument(`[${kebab(rest)}...]`, spec.flags.find((flag) => flag.field === rest)?.description ?? "");

  const flags: Record<string, { key: string; name: string }> = {};
  for (const flag of spec.flags) {
    if (positional.includes(flag.field) || flag.field === rest) continue;
    const option = optionFor(flag, flagSpelling(spec.polish, flag.field));
    if (flag.hidden === true) option.hideHelp();
    const name = option.long ?? flagName(flag.field);
    flags[flag.field] = { key: option.attributeName(), name };
    fieldNames[flag.field] = name;
    command.addOption(option);
    if (flag.kind === "boolean") command.addOption(new Option(`--no-${option.name()}`, "The opposite.").hideHelp());
  }
  if (spec.result === "page" || spec.result === "tokenPage") command.option("--all", "Every page, not the first alone.");
  if (spec.result === "bytes") command.option("-f, --file <path>", "Write to this file, or into this folder; to stdout without it, or with -.");
  if (spec.body === "bytes") command.option("-f, --file <path>", "Read from this file; from stdin without it, or with -.");
  if (confirm !== undefined)
    command.option(
      "-y, --yes",
      confirmOnly === undefined
        ? "Do not ask."
        : `Do not ask. Only ${fieldFlag(spec.polish, confirmOnly.field)}${confirmOnly.value === true ? "" : ` ${String(confirmOnly.value)}`} asks.`,
    );
  const isList = spec.result === "page" || spec.result === "tokenPage" || spec.polish.columns !== undefined;
  if (watch !== undefined)
    command.option(
      "--watch",
      `Print the ${isList ? "list" : "answer"} whenever it changes, ${watch.until.length === 0 ? "until Ctrl-C" : `until its ${watch.field} is ${new Intl.ListFormat("en", { type: "disjunction" }).format(watch.until)}`}.`,
    );
  if (watch !== undefined) command.option("--wait", "With --watch, wait for a service that stops answering instead of failing.");
  names.set(command, fieldNames);
  specs.set(command, spec);
  if (spec.result !== "bytes") command.addOption(outputOption());
  if (spec.result !== "bytes" && spec.result !== "empty") command.addOption(queryOption());
  command.addHelpText(
    "after",
    () =>
      `${fieldsHelp(spec, run.terminal.width)}\n\nRequest:\n  ${spec.method} ${spec.path}${examplesHelp(examples) === "" ? "" : `\n${examplesHelp(examples)}`}`,
  );
  command.action(async () => {
    const { runOperation } = await import("./run-operation.ts");
    await runOperation(
      spec,
      {
        args: command.args,
        options: command.opts(),
        globals: command.optsWithGlobals(),
        flags,
        related: silentWithout && specOf(silentWithout.operation),
      },
      run,
    );
  });
}

/** What an answer has in it, for `--query`. */
function fieldsHelp({ fields, result }: CommandSpec, width: number): string {
  if (fields.length === 0) return "";
  const lines: string[] = [];
  let line = "";
  for (const field of fields) {
    if (line !== "" && line.length + field.length + 4 > Math.min(width, 100)) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? field : `, ${field}`;
  }
  const what = result === "events" ? "Fields of an event" : result === "json" ? "Fields of the answer" : "Fields of an item";
  return `\n${what}:\n${[...lines, line].map((text) => `  ${text}`).join("\n")}`;
}

function optionFor(flag: Flag, flags: string): Option {
  const description = [
    flag.description,
    ...(flag.kind === "list" || flag.kind === "map" ? ["May be given several times."] : []),
    ...(flag.kind === "json" && flag.field !== "viewport" ? ["JSON, or @ and the name of a file with it."] : []),
    ...(flag.kind === "file" ? ["The path of a file."] : []),
    ...(isSecret(flag) ? ["- reads it from stdin, @ and a name from a file, where nobody else sees it."] : []),
    ...(flag.default === undefined || flag.default === false
      ? []
      : [`Default: ${typeof flag.default === "string" ? flag.default : JSON.stringify(flag.default)}.`]),
    ...(flag.clearable ? ["The word null takes it away."] : []),
    ...(flag.required ? ["Required."] : []),
  ].join(" ");
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
    case "file":
      return new Option(`${flags} <file>`, description);
    case "string":
      return new Option(`${flags} <${flag.values && flag.values.length <= 8 ? flag.values.join("|") : "text"}>`, description);
  }
}

function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}
