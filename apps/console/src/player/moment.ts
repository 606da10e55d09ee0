import { momentText } from "../base/texts.ts";

/** `Recording of order-agent, Nov 24, 2026, 2:18:50 PM`. */
export function replayTitle(session: string | undefined, startedAt: string | null | undefined): string {
  const parts = [session ?? "", startedAt == null ? "" : momentText(startedAt)].filter(Boolean);
  return parts.length === 0 ? "Recording" : `Recording of ${parts.join(", ")}`;
}

/** `01:05`, `1:00:05`. */
export function filmClock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (value: number) => String(value).padStart(2, "0");
  const rest = `${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
  return whole >= 3600 ? `${Math.floor(whole / 3600)}:${rest}` : rest;
}

/** Reads `12.5`, `1:05`, `1:00:05`, `90s` and `1m30s`. @returns seconds; `undefined` if invalid. */
export function parseMoment(text: string | undefined): number | undefined {
  const clock = /^(?:(?:(\d{1,3}):)?(\d{1,3}):)?(\d{1,7}(?:\.\d{1,6})?)$/.exec(text ?? "");
  const units = /^(?=\d)(?:(\d{1,3})h)?(?:(\d{1,4})m)?(?:(\d{1,7}(?:\.\d{1,6})?)s)?$/.exec(text ?? "");
  const parts = clock ?? units;
  if (parts === null) return undefined;
  const [, hours = "0", minutes = "0", seconds = "0"] = parts;
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}

/** The moment in `?t=` or `#t=` of an address. */
export function momentIn({ hash, search }: Pick<Location, "hash" | "search">): number | undefined {
  const inHash = new URLSearchParams(hash.replace(/^#/, "")).get("t");
  return parseMoment(inHash ?? new URLSearchParams(search).get("t") ?? undefined);
}

export const momentParameter = (seconds: number): string => String(Math.round(seconds * 10) / 10);
