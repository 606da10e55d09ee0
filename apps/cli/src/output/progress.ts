import type { Terminal } from "../core/types.ts";
import { printable, truncate } from "./format.ts";

/** Prints nothing unless stderr is a terminal. */
export interface Progress {
  /** @param totalBytes - `undefined` if the size is unknown. */
  update(movedBytes: number, totalBytes: number | undefined): void;
  stop(): void;
}

export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? String(value) : value.toFixed(1)} ${units[unit] ?? ""}`;
}

/** Omits parts from the right to fit into `columns`. */
export function progressLine(
  label: string,
  state: { readonly movedBytes: number; readonly totalBytes: number | undefined; readonly elapsedMs: number },
  columns: number,
): string {
  const { movedBytes, totalBytes, elapsedMs } = state;
  const bytesPerSecond = elapsedMs > 0 ? (movedBytes / elapsedMs) * 1000 : 0;
  const rate = bytesPerSecond > 0 ? [`${formatBytes(Math.round(bytesPerSecond))}/s`] : [];
  const name = truncate(printable(label), Math.max(12, Math.floor(columns / 3)));
  let parts: string[];
  if (totalBytes === undefined || totalBytes === 0) parts = [name, formatBytes(movedBytes), ...rate];
  else {
    const done = Math.min(1, movedBytes / totalBytes);
    const filled = Math.round(done * 20);
    const leftSeconds = Math.ceil((totalBytes - movedBytes) / bytesPerSecond);
    const left = bytesPerSecond > 0 && leftSeconds > 0 ? [`${String(leftSeconds)} s left`] : [];
    parts = [
      name,
      `${"█".repeat(filled)}${"░".repeat(20 - filled)} ${String(Math.floor(done * 100)).padStart(3)}%`,
      `${formatBytes(movedBytes)} of ${formatBytes(totalBytes)}`,
      ...rate,
      ...left,
    ];
  }
  while (parts.length > 2 && parts.join("  ").length > columns) parts.pop();
  return truncate(parts.join("  "), columns);
}

const frameMs = 100;

/** Starts after 100 ms. */
export function showProgress(terminal: Terminal, label: string): Progress {
  if (!terminal.progress) return { update: () => undefined, stop: () => undefined };
  const startedAt = performance.now();
  let drawnAt = startedAt;
  let drawn = false;
  return {
    update(movedBytes, totalBytes) {
      const now = performance.now();
      if (now - drawnAt < frameMs) return;
      drawnAt = now;
      drawn = true;
      terminal.stderr.write(
        `\r\u001b[2K${progressLine(label, { movedBytes, totalBytes, elapsedMs: now - startedAt }, terminal.width - 1)}`,
      );
    },
    stop() {
      if (drawn) terminal.stderr.write("\r\u001b[2K");
      drawn = false;
    },
  };
}
