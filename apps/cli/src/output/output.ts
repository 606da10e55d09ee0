import { styleText } from "node:util";
import type { Column, GlobalFlags, Terminal } from "../core/types.ts";
import { alignColumns, cell } from "./format.ts";

export function styled(
  terminal: Pick<Terminal, "colour">,
  style: Parameters<typeof styleText>[0],
  text: string,
): string {
  return terminal.colour ? styleText(style, text, { validateStream: false }) : text;
}

export function notify(terminal: Terminal, { quiet }: Pick<GlobalFlags, "quiet">, text: string): void {
  if (quiet !== true) terminal.stderr.write(`${text}\n`);
}

/** Cuts rows to the width of a terminal; other outputs get everything. */
export function printTable(terminal: Terminal, rows: readonly object[], columns: readonly Column[]): void {
  const now = new Date();
  // Omit columns without any value.
  const shown = columns.filter(([, field]) =>
    rows.some((row) => valueAt(row, field) !== null && valueAt(row, field) !== undefined),
  );
  const cells = rows.map((row) =>
    shown.map(([, field]) => cell(valueAt(row, field), terminal.screen ? "relative" : "absolute", now)),
  );
  const right = new Set(
    shown.flatMap(([, field], index) => (rows.every((row) => typeof valueAt(row, field) === "number") ? [index] : [])),
  );
  const [head = "", ...lines] = alignColumns([shown.map(([heading]) => heading), ...cells], {
    right,
    available: terminal.screen ? terminal.width : Infinity,
  });
  terminal.stdout.write(`${[styled(terminal, "bold", head), ...lines].join("\n")}\n`);
}

function valueAt(row: object, field: string): unknown {
  return (row as Record<string, unknown>)[field];
}

/** One field per line, the fields in `first` at the top. Values are never cut, so that they can be copied. */
export function printFields(terminal: Terminal, value: object, first: readonly string[] = []): void {
  const now = new Date();
  const rank = (name: string) => (first.includes(name) ? first.indexOf(name) : first.length);
  const entries = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => rank(a) - rank(b));
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  const lines = entries.map(
    ([name, field]) =>
      `${styled(terminal, "bold", name.padEnd(width))}  ${cell(field, terminal.screen ? "both" : "absolute", now)}\n`,
  );
  terminal.stdout.write(lines.join(""));
}

export function printJson(terminal: Terminal, value: unknown): void {
  terminal.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

export function printJsonLine(terminal: Terminal, value: unknown): void {
  terminal.stdout.write(`${JSON.stringify(value)}\n`);
}
