import { writeFileSync } from "node:fs";

/** One measured figure: ours beside its peer's, both of this run, and the ratio that counts. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  /** What it is compared with, in the same unit; absent for a figure that stands alone. */
  readonly peer?: number;
  readonly peerName?: string;
  /** What the ratio ours / peer should not exceed, or reach (`>=`). */
  readonly target?: string;
}

/** The value below which the share `p` (0 to 1) of the samples lies. */
export function percentile(samples: readonly number[], p: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(p * sorted.length) - 1)] ?? Number.NaN;
}

function round(value: number): string {
  return Number.isNaN(value) ? "-" : value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** Prints figures as a table, ratios last. */
export function printFigures(title: string, figures: readonly Figure[]): void {
  const rows = figures.map(({ name, unit, ours, peer, peerName, target }) => [
    name,
    `${round(ours)} ${unit}`,
    peer === undefined ? "" : `${round(peer)} ${unit}`,
    peerName ?? "",
    peer === undefined ? "" : `${round(ours / peer)} ×`,
    target ?? "",
  ]);
  const head = ["figure", "Shoal", "beside", "what", "ratio", "target"];
  const widths = head.map((heading, column) => Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (column === 0 || column === 3 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd();
  console.log(`\n${title}\n${line(head)}\n${widths.map((width) => "-".repeat(width)).join("  ")}\n${rows.map(line).join("\n")}`);
}

/** Writes all figures of a run as JSON. */
export function writeFigures(path: string, figures: readonly Figure[]): void {
  const rows = figures.map((figure) => ({ ...figure, ...(figure.peer !== undefined && { ratio: figure.ours / figure.peer }) }));
  writeFileSync(path, `${JSON.stringify({ node: process.version, platform: `${process.platform}-${process.arch}`, figures: rows }, null, 2)}\n`);
}
