import type { Lives, Pair } from "../../../bench/types.ts";
import type { Terminal } from "../../../core/types.ts";
import { alignColumns } from "../../../output/format.ts";
import { formatBytes } from "../../../output/progress.ts";
import { styled } from "../../../output/output.ts";
import type { BenchReport } from "./bench-report.ts";

type Row = readonly [figure: string, shoal: string, byHand: string, ratio: string];

/** Prints tables for people. */
export function printReport(report: BenchReport, terminal: Terminal): void {
  const { machine, memory, remains, service } = report;
  const lines = [
    `${String(machine.cores)} cores, ${formatBytes(machine.memory_bytes)}, load ${String(machine.load_average)}, Node ${machine.node}, ${machine.chromium ?? "no Chromium by hand"}`,
    service.started ? "A new service on a temporary data directory" : `The service at ${service.base_url}`,
    "",
    ...table(terminal, "Lives: create, connect over CDP, open a page, release", livesRows(report)),
    "",
    ...table(terminal, "Ten page actions a session", actionRows(report)),
    "",
    ...table(terminal, "Sessions at once", togetherRows(report)),
    "",
    ...errorLines(report),
    memory === null
      ? "Memory: measured on Linux only, without --running"
      : `Memory: ${String(memory.sessions_per_gb)} sessions per GB at rest, ${String(memory.mb_per_session)} MB each (${String(memory.sessions)} sessions)`,
    `Left after the run: ${counted(remains.sessions, "session")}, ${counted(remains.processes, "process", "processes")}, ${counted(remains.files, "file")}`,
  ];
  terminal.stdout.write(`${lines.join("\n")}\n`);
}

function livesRows({ lives }: BenchReport): Row[] {
  return lives.flatMap(({ by_hand: peer, shoal }) => {
    const at = `${String(shoal.at_once)} at a time`;
    return [
      row(`${at}, median`, "ms", shoal.median_ms, peer?.median_ms),
      row(`${at}, p95`, "ms", shoal.p95_ms, peer?.p95_ms),
      ...(["create", "connect", "goto", "release"] as const).map((step) =>
        row(`  ${step}, median`, "ms", shoal[`${step}_ms`], peer?.[`${step}_ms`]),
      ),
      row(`${at}, lives`, "/s", shoal.per_second, peer?.per_second),
    ];
  });
}

function actionRows({ actions: { by_hand: peer, shoal } }: BenchReport): Row[] {
  return [row("actions", "/s", shoal.per_second, peer?.per_second)];
}

function togetherRows({ together }: BenchReport): Row[] {
  return together.flatMap(({ by_hand: peer, shoal }): Row[] => [
    [`${String(shoal.at_once)} at once, successes`, successes(shoal), peer === null ? "-" : successes(peer), ""],
    row("  median of a life", "ms", shoal.median_ms, peer?.median_ms),
  ]);
}

function successes({ attempts, successes: done }: Lives): string {
  return `${String(done)} of ${String(attempts)}`;
}

function row(figure: string, unit: string, ours: number, peer: number | undefined): Row {
  const shown = (value: number): string => `${value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${unit}`;
  return [
    figure,
    shown(ours),
    peer === undefined ? "-" : shown(peer),
    peer === undefined || peer === 0 ? "" : `${(ours / peer).toFixed(2)} ×`,
  ];
}

function table(terminal: Terminal, title: string, rows: readonly Row[]): string[] {
  const lines = alignColumns([["", "Shoal", "by hand", "ratio"], ...rows], {
    right: new Set([1, 2, 3]),
    available: Infinity,
  });
  return [styled(terminal, "bold", title), ...lines.map((line) => `  ${line}`)];
}

function errorLines({ lives, together }: BenchReport): string[] {
  const failed = (pairs: readonly Pair<Lives>[], side: "shoal" | "by_hand") =>
    pairs.map((pair) => pair[side]?.first_error).find((error) => error !== undefined);
  return (["shoal", "by_hand"] as const).flatMap((side) => {
    const error = failed([...lives, ...together], side);
    return error === undefined ? [] : [`First failure ${side === "shoal" ? "of Shoal" : "by hand"}: ${error}`, ""];
  });
}

function counted(count: number | null, one: string, many = `${one}s`): string {
  if (count === null) return `${many} not measured`;
  return `${String(count)} ${count === 1 ? one : many}`;
}
