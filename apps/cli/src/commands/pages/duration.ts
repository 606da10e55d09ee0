import { UsageError } from "../../core/errors.ts";

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Reads `500ms`, `10s`, `10m`, `1h30m`, or a number of seconds. @throws {UsageError} */
export function millisecondsOf(text: string, flag: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text)
    throw new UsageError(`${flag} must be a duration such as 500ms, 10s, 10m or 1h30m.`);
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (unitsMs[unit ?? ""] ?? 0), 0);
}
