import stringWidth from "fast-string-width";
import { printable, truncate } from "../../../output/format.ts";
import { formatBytes } from "../../../output/progress.ts";
import { ageOf } from "../../../output/session-row.ts";
import type { TopRow } from "./top-rows.ts";
import { sorted, type TopState, totalsOf } from "./top-state.ts";

interface TopColumn {
  readonly heading: string;
  readonly width: number;
  readonly right?: true;
  readonly text: (row: TopRow, now: Date) => string;
}

const labelWidth = 24;
const minAddressWidth = 12;
/** Rows of the screen around the table: the title, the headings and the keys. */
const frameRows = 3;

const columns: readonly TopColumn[] = [
  { heading: "SESSION", width: labelWidth, text: ({ label }) => label },
  {
    heading: "CPU",
    width: 6,
    right: true,
    text: ({ cpuPercent }) => shown(cpuPercent, (value) => `${value.toFixed(1)}%`),
  },
  { heading: "MEMORY", width: 8, right: true, text: ({ memoryBytes }) => shown(memoryBytes, formatBytes) },
  { heading: "PAGES", width: 5, right: true, text: ({ pages }) => shown(pages, String) },
  { heading: "CLIENTS", width: 7, right: true, text: ({ clients }) => shown(clients, String) },
  { heading: "AGE", width: 6, right: true, text: ({ startedMs }, now) => ageOf(new Date(startedMs), now) },
  { heading: "USED", width: 6, right: true, text: ({ usedMs }, now) => usedText(usedMs, now) },
];

function shown(value: number | undefined, format: (value: number) => string): string {
  return value === undefined ? "-" : format(value);
}

function usedText(usedMs: number, now: Date): string {
  return usedMs === Infinity ? "now" : ageOf(new Date(usedMs), now);
}

/** Rows of the table that fit on a screen. */
export function pageRows(height: number): number {
  return Math.max(1, height - frameRows);
}

interface Screen {
  readonly width: number;
  readonly height: number;
  readonly now: Date;
  readonly baseUrl: string;
}

/** Returns at most `height` lines of at most `width` columns. The selected line starts with `>`. */
export function topLines(state: TopState, { width, height, now, baseUrl }: Screen): string[] {
  const ordered = sorted(state);
  const rows = pageRows(height);
  const at = Math.max(
    0,
    ordered.findIndex(({ id }) => id === state.selected),
  );
  const first = Math.max(0, Math.min(at - Math.floor(rows / 2), ordered.length - rows));
  const visible = ordered.slice(first, first + rows);
  const cut = state.isCut ? " (the newest)" : "";
  const title = `${totalsOf(state.rows)}${cut}  ${now.toISOString().slice(11, 19)}Z  ${baseUrl}`;
  const body = visible.map(
    (row) =>
      `${row.id === state.selected ? ">" : " "} ${tableLine(width - 2, (column) => column.text(row, now), row.address)}`,
  );
  if (ordered.length === 0) body.push("  No browsers. Start one: shoal browsers create");
  while (body.length < rows) body.push("");
  const headings = `  ${tableLine(width - 2, (column) => column.heading, "PAGE")}`;
  return [title, headings, ...body, footerOf(state)].slice(0, height).map((line) => truncate(printable(line), width));
}

export function topTable(state: TopState, screen: Omit<Screen, "baseUrl" | "height">): string[] {
  const line = (text: (column: TopColumn) => string, address: string) => tableLine(screen.width, text, address);
  return [
    line(({ heading }) => heading, "PAGE"),
    ...sorted(state).map((row) => printable(line((column) => column.text(row, screen.now), row.address))),
  ];
}

/** Omits columns from the right that do not fit. */
function tableLine(width: number, textOf: (column: TopColumn) => string, address: string): string {
  const cells: string[] = [];
  let used = 0;
  for (const column of columns) {
    const gap = cells.length === 0 ? 0 : 2;
    if (cells.length > 0 && used + gap + column.width > width) return cells.join("  ").trimEnd();
    const text = truncate(printable(textOf(column)), Math.min(column.width, width));
    const padding = " ".repeat(Math.max(0, Math.min(column.width, width) - stringWidth(text)));
    cells.push(column.right === true ? padding + text : text + padding);
    used += gap + column.width;
  }
  const left = width - used - 2;
  if (left >= minAddressWidth) cells.push(truncate(printable(address), left));
  return cells.join("  ").trimEnd();
}

function footerOf({ asking, message, reversed, sort }: TopState): string {
  if (asking !== undefined) return `End session ${asking.label}? y ends it, any other key does not.`;
  if (message !== "") return message;
  return `q quit  s sort: ${sort}${reversed ? ", reversed" : ""}  r reverse  k end session  ↑ ↓ select`;
}
