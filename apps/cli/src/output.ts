import { styleText } from "node:util";

/** How results are printed: a table for people, indented JSON, or one JSON value a line. */
export type OutputFormat = "table" | "json" | "jsonl";

/** Where a command prints. `interactive` means that a person watches stderr: progress, colours and questions are welcome. */
export interface Terminal {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly stdin: NodeJS.ReadableStream;
  /** Whether stdin and stderr are a terminal. */
  readonly interactive: boolean;
  /** Whether stdout is a terminal that takes colours. */
  readonly colour: boolean;
  /** Columns of stdout. */
  readonly width: number;
}

/** Removes what could steer a terminal (escape sequences, control characters) from text that came over the wire. */
export function printable(text: string): string {
  // Names, tags and paths are somebody else's input: an escape sequence in one must not reach a terminal.
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/** A value as a table's cell or a field's line. */
export function cell(value: unknown): string {
  if (value === undefined || value === null) return "-";
  if (typeof value === "string") return isTimestamp(value) ? value.replace("T", " ").replace(/\.\d+Z$/, "Z") : printable(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return printable(JSON.stringify(value));
}

function isTimestamp(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text);
}

/** Prints rows under headings, columns separated by two spaces. Nothing but the headings' absence tells an empty list: a line on stderr says so. */
export async function printTable(terminal: Terminal, rows: readonly object[], columns: readonly (readonly [heading: string, field: string])[]): Promise<void> {
  if (rows.length === 0) {
    terminal.stderr.write("Nothing found.\n");
    return;
  }
  const { default: Table } = await import("cli-table3");
  const bare = { top: "", "top-mid": "", "top-left": "", "top-right": "", bottom: "", "bottom-mid": "", "bottom-left": "", "bottom-right": "", left: "", "left-mid": "", mid: "", "mid-mid": "", right: "", "right-mid": "", middle: "  " };
  // A column that is empty in every row only takes width.
  const shown = columns.filter(([, field]) => rows.some((row) => field in row && valueAt(row, field) !== null && valueAt(row, field) !== undefined));
  const table = new Table({ chars: bare, style: { "padding-left": 0, "padding-right": 0, head: [], border: [] }, head: shown.map(([heading]) => (terminal.colour ? styleText("bold", heading, { validateStream: false }) : heading)) });
  for (const row of rows) table.push(shown.map(([, field]) => cell(valueAt(row, field))));
  const lines = table.toString().split("\n");
  terminal.stdout.write(`${lines.map((line) => line.trimEnd()).join("\n")}\n`);
}

function valueAt(row: object, field: string): unknown {
  return (row as Record<string, unknown>)[field];
}

/** Prints one object, a field a line. */
export function printFields(terminal: Terminal, value: object): void {
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  for (const [name, field] of entries) {
    const label = name.padEnd(width);
    terminal.stdout.write(`${terminal.colour ? styleText("bold", label, { validateStream: false }) : label}  ${cell(field)}\n`);
  }
}

/** Prints JSON, indented. */
export function printJson(terminal: Terminal, value: unknown): void {
  terminal.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Prints JSON on one line. */
export function printJsonLine(terminal: Terminal, value: unknown): void {
  terminal.stdout.write(`${JSON.stringify(value)}\n`);
}
