import type { Terminal } from "./output.ts";

/** A bar on stderr while bytes move; nothing where nobody watches. */
export interface Progress {
  /** @param movedBytes - bytes so far. @param totalBytes - of how many, where that is known. */
  update(movedBytes: number, totalBytes: number | undefined): void;
  stop(): void;
}

/** Bytes for people: `1.2 MB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? String(value) : value.toFixed(1)} ${units[unit] ?? ""}`;
}

/** Shows how far a transfer is, on a terminal. */
export async function showProgress(terminal: Terminal, label: string): Promise<Progress> {
  if (!terminal.interactive) return { update: () => undefined, stop: () => undefined };
  const { SingleBar } = await import("cli-progress");
  const bar = new SingleBar({
    stream: terminal.stderr,
    clearOnComplete: true,
    hideCursor: true,
    etaBuffer: 50,
    format: `${label} {bar} {percentage}%  {moved} of {total}  {eta_formatted} left`,
    formatBar: (progress: number) => `${"█".repeat(Math.round(progress * 24))}${"░".repeat(24 - Math.round(progress * 24))}`,
  });
  let started = false;
  return {
    update(movedBytes, totalBytes) {
      const fields = { moved: formatBytes(movedBytes), total: totalBytes === undefined ? "?" : formatBytes(totalBytes) };
      if (!started) {
        bar.start(totalBytes ?? movedBytes, movedBytes, fields);
        started = true;
      } else {
        // Of unknown size: the bar stays full, the count tells.
        if (totalBytes === undefined) bar.setTotal(movedBytes);
        bar.update(movedBytes, fields);
      }
    },
    stop: () => {
      if (started) bar.stop();
    },
  };
}
