const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads `500ms`, `10s`, `10m`, `1h30m` or `2d`. Returns `undefined` for other texts. */
export function durationMs(text: string): number | undefined {
  const parts = [...text.matchAll(/(?<!\d)(\d+(?:\.\d+)?)(ms|[smhd])/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text) return undefined;
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (unitsMs[unit ?? ""] ?? 0), 0);
}
