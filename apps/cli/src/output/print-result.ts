import type { CommandSpec, OutputFormat, Terminal } from "../core/types.ts";
import { printEvent } from "./event-line.ts";
import { cell, printable, printableLines } from "./format.ts";
import { printFields, printJson, printJsonLine, printTable } from "./output.ts";
import { sessionRow } from "./session-row.ts";

export interface Printing {
  readonly terminal: Terminal;
  readonly format: OutputFormat;
  readonly query?: string | undefined;
  readonly args: readonly string[];
  readonly quiet: boolean;
}

/** For results that belong to no operation. */
export const plainSpec: CommandSpec = {
  operationId: "",
  words: [],
  summary: "",
  description: "",
  method: "GET",
  path: "",
  params: [],
  flags: [],
  body: "none",
  result: "json",
  responses: {},
  fields: [],
  entry: {},
};

/** Replaces `{0}` by an argument, and `{name|id}` by the first field with a value. */
export function fill(text: string, args: readonly string[], fields: object = {}): string {
  return text.replace(/\{([\w|]+)\}/g, (_match, names: string) => {
    if (/^\d$/.test(names)) return args[Number(names)] ?? "";
    const values = names.split("|").map((name) => (fields as Readonly<Record<string, unknown>>)[name]);
    const value = values.find((entry) => entry !== undefined && entry !== null && entry !== "");
    return typeof value === "string" || typeof value === "number" ? printable(String(value)) : "";
  });
}

/** Whether every field of the text has a value. */
function isComplete(text: string, fields: object): boolean {
  return (text.match(/\{[^{}]+\}/g) ?? []).every((field) => fill(field, [], fields) !== "");
}

export async function printResult(spec: CommandSpec, value: unknown, printing: Printing): Promise<void> {
  const { terminal, format, query, args, quiet } = printing;
  const { brief, done, first, next = [], raw, text, nothing } = spec.entry;
  if (value === undefined || value === null) {
    const said = spec.result === "empty" ? done : (nothing ?? done);
    if (said !== undefined && format === "table" && !quiet) terminal.stderr.write(`${fill(said, args)}\n`);
  } else if (query !== undefined) await printQuery(terminal, value, query, format);
  else if (Array.isArray(value)) await printList(spec, value as unknown[], printing);
  else if (format !== "table" || typeof value !== "object" || raw) await printValue(terminal, value, format);
  else if (brief !== undefined && terminal.screen)
    for (const line of brief.filter((template) => isComplete(template, value)))
      terminal.stdout.write(`${fill(line, args, value)}\n`);
  else {
    const field = text === undefined ? undefined : (value as Readonly<Record<string, unknown>>)[text];
    if (typeof field === "string") terminal.stdout.write(`${printableLines(field)}${field.endsWith("\n") ? "" : "\n"}`);
    else printFields(terminal, value, first);
    if (!quiet) for (const line of next) terminal.stderr.write(`${fill(line, args, value)}\n`);
  }
}

/** The format `table` prints JSON. */
export async function printValue(terminal: Terminal, value: unknown, format: OutputFormat): Promise<void> {
  if (format === "jsonl") printJsonLine(terminal, value);
  else if (format === "yaml") {
    const { toYaml } = await import("./to-yaml.ts");
    terminal.stdout.write(toYaml(value));
  } else printJson(terminal, value);
}

export async function printList(
  { entry, fields }: CommandSpec,
  items: readonly unknown[],
  { terminal, format, quiet }: Printing,
): Promise<void> {
  if (format === "jsonl") for (const item of items) printJsonLine(terminal, item);
  else if (format !== "table") await printValue(terminal, items, format);
  else if (items.length === 0) {
    if (!quiet) terminal.stderr.write(`${entry.empty ?? "Nothing found."}\n`);
  } else if (!items.every((item) => typeof item === "object" && item !== null))
    for (const item of items) terminal.stdout.write(`${cell(item)}\n`);
  else if (entry.rows === "events") for (const item of items) printEvent(terminal, item, format);
  else printTables(terminal, items, { entry, fields, quiet });
}

function printTables(
  terminal: Terminal,
  items: readonly object[],
  { entry, fields, quiet }: Pick<CommandSpec, "entry" | "fields"> & Pick<Printing, "quiet">,
): void {
  const columns = entry.columns ?? fields.map((field) => [field.toUpperCase(), field] as const);
  printTable(terminal, entry.rows === "sessions" ? items.map((item) => sessionRow(item)) : items, columns);
  if (entry.totals === undefined || quiet) return;
  const sums = entry.totals.map((field) => {
    const sum = items.reduce((total, item) => total + Number((item as Record<string, unknown>)[field] ?? 0), 0);
    const heading = columns.find(([, shown]) => shown === field)?.[0] ?? field;
    return `${String(Math.round(sum * 1000) / 1000)} ${heading.toLowerCase()}`;
  });
  terminal.stderr.write(`Total of ${String(items.length)} rows: ${sums.join(", ")}.\n`);
}

/** Prints text as text, lists of text one per line, and the rest as JSON. */
async function printQuery(terminal: Terminal, value: unknown, expression: string, format: OutputFormat): Promise<void> {
  const { pick } = await import("./pick.ts");
  const picked = pick(value, expression);
  const isPlain = (entry: unknown) => entry === null || typeof entry !== "object";
  if (format === "jsonl" && Array.isArray(picked)) for (const item of picked) printJsonLine(terminal, item);
  else if (format !== "table") await printValue(terminal, picked, format);
  else if (Array.isArray(picked) && picked.every(isPlain))
    for (const item of picked) terminal.stdout.write(`${cell(item)}\n`);
  else if (isPlain(picked))
    terminal.stdout.write(`${typeof picked === "string" ? printableLines(picked) : cell(picked)}\n`);
  else printJson(terminal, picked);
}
