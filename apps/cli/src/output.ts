import { styleText } from "node:util";
import { alignColumns, cell } from "./format.ts";
import type { Column } from "./polish.ts";

/** How results are printed: a table for people, indented JSON, one JSON value a line, or YAML. */
export type OutputFormat = "table" | "json" | "jsonl" | "yaml";

/** Where a command prints, and who is there. */
export interface Terminal {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly stdin: NodeJS.ReadableStream;
  /** Prints a short text on stdout at once, without the stream. */
  print(text: string): void;
  /** Whether a person can answer a question: stdin and stderr are a terminal. */
  readonly interactive: boolean;
  /** Whether a person watches stderr, so that progress may be drawn there. */
  readonly progress: boolean;
  /** Whether stdin is a keyboard. */
  readonly keyboard: boolean;
  /** Whether stdout is a terminal: columns are fitted to it and moments told from now. */
  readonly screen: boolean;
  /** Whether stdout takes colours. */
  readonly colour: boolean;
  /** Whether stderr takes colours. */
  readonly errorColour: boolean;
  /** Columns of the terminal; 80 where there is none. */
  readonly width: number;
}

/** Styles a text for stdout, where it takes colours. */
export function styled(terminal: Pick<Terminal, "colour">, style: Parameters<typeof styleText>[0], text: string): string {
  return terminal.colour ? styleText(style, text, { validateStream: false }) : text;
}

/** Prints rows under headings. On a terminal they are cut to its width; elsewhere nothing is left out. */
export function printTable(terminal: Terminal, rows: readonly object[], columns: readonly Column[]): void {
  const now = new Date();
  // A column that is empty in every row only takes width.
  const shown = columns.filter(([, field]) => rows.some((row) => valueAt(row, field) !== null && valueAt(row, field) !== undefined));
  const cells = rows.map((row) => shown.map(([, field]) => cell(valueAt(row, field), terminal.screen ? "relative" : "absolute", now)));
  const right = new Set(shown.flatMap(([, field], index) => (rows.every((row) => typeof valueAt(row, field) === "number") ? [index] : [])));
  const [head = "", ...lines] = alignColumns([shown.map(([heading]) => heading), ...cells], {
    right,
    available: terminal.screen ? terminal.width : Infinity,
  });
  terminal.stdout.write(`${[styled(terminal, "bold", head), ...lines].join("\n")}\n`);
}

function valueAt(row: object, field: string): unknown {
  return (row as Record<string, unknown>)[field];
}

/** Prints one object, a field a line; the fields in `first` stand at the top. Nothing is cut: values are there to be copied. */
export function printFields(terminal: Terminal, value: object, first: readonly string[] = []): void {
  const now = new Date();
  const rank = (name: string) => (first.includes(name) ? first.indexOf(name) : first.length);
  const entries = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => rank(a) - rank(b));
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  const lines = entries.map(
    ([name, field]) => `${styled(terminal, "bold", name.padEnd(width))}  ${cell(field, terminal.screen ? "both" : "absolute", now)}\n`,
  );
  terminal.stdout.write(lines.join(""));
}

/** Prints JSON, indented. */
export function printJson(terminal: Terminal, value: unknown): void {
  terminal.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Prints JSON on one line. */
export function printJsonLine(terminal: Terminal, value: unknown): void {
  terminal.stdout.write(`${JSON.stringify(value)}\n`);
}
