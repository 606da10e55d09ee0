import { writeFileSync } from "node:fs";

export { percentile } from "@shoal/cli/bench";

/** A figure and its baseline from the same run. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  /** The baseline, in the same unit, if any. */
  readonly peer?: number;
  readonly peerName?: string;
  /** Median of the rounds' ratios, for benchmarks with rounds; otherwise ours / peer. */
  readonly ratio?: number;
  /** Maximum of the ratio, or minimum with `>=`. */
  readonly target?: string;
}

function round(value: number): string {
  return Number.isNaN(value)
    ? "-"
    : value >= 100
      ? value.toFixed(0)
      : value >= 10
        ? value.toFixed(1)
        : value.toFixed(2);
}

export function printFigures(title: string, figures: readonly Figure[]): void {
  const rows = figures.map(({ name, unit, ours, peer, peerName, ratio, target }) => [
    name,
    `${round(ours)} ${unit}`,
    peer === undefined ? "" : `${round(peer)} ${unit}`,
    peerName ?? "",
    peer === undefined ? "" : `${round(ratio ?? ours / peer)} ×`,
    target ?? "",
  ]);
  const head = ["figure", "Shoal", "baseline", "what", "ratio", "target"];
  const widths = head.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        column === 0 || column === 3 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  console.log(
    `\n${title}\n${line(head)}\n${widths.map((width) => "-".repeat(width)).join("  ")}\n${rows.map(line).join("\n")}`,
  );
}

export function writeFigures(path: string, figures: readonly Figure[]): void {
  const rows = figures.map((figure) => ({
    ...figure,
    ...(figure.peer !== undefined && { ratio: figure.ratio ?? figure.ours / figure.peer }),
  }));
  writeFileSync(
    path,
    `${JSON.stringify({ node: process.version, platform: `${process.platform}-${process.arch}`, figures: rows }, null, 2)}\n`,
  );
}
