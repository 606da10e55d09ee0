const bytes = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hour12: false,
});
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
] as const;

export function sizeText(count: number): string {
  if (count < 1024) return `${bytes.format(count)} B`;
  const power = Math.min(4, Math.floor(Math.log2(count) / 10));
  return `${bytes.format(count / 1024 ** power)} ${["B", "KiB", "MiB", "GiB", "TiB"][power] ?? ""}`;
}

type DurationUnit = readonly [name: string, seconds: number];
const [day, hour, minute, second]: readonly [DurationUnit, DurationUnit, DurationUnit, DurationUnit] = [
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
  ["s", 1],
];
const durationUnits = [
  [day, hour],
  [hour, minute],
  [minute, second],
] as const;

/** `2h 5m`, `15m`, `14s`, `4.1s`, `460ms`. */
export function durationText(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole > 0 && whole < 1000) return `${whole}ms`;
  const tenths = Math.round(whole / 100) / 10;
  return tenths < 10 ? `${tenths}s` : longText(ms);
}

function longText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [[unit, size], smaller] = durationUnits.find(([[, size]]) => seconds >= size) ?? [["s", 1], undefined];
  const whole = `${Math.floor(seconds / size)}${unit}`;
  if (smaller === undefined) return whole;
  const rest = Math.floor((seconds % size) / smaller[1]);
  return rest === 0 ? whole : `${whole} ${rest}${smaller[0]}`;
}

export const momentText = (at: string | number): string => absolute.format(new Date(at));

export const clockText = (ms: number): string => clock.format(ms);

/** `3 minutes ago`, `in 2 hours`. */
export function agoText(at: string | number, nowMs: number): string {
  const difference = new Date(at).getTime() - nowMs;
  const [unit, size] = units.find(([, unitMs]) => Math.abs(difference) >= unitMs) ?? ["second", 1000];
  return relative.format(Math.trunc(difference / size), unit);
}

/** A sentence for each `ended_reason` of a session. */
export const endings: Readonly<Record<string, string>> = {
  deleted: "It was ended by a request.",
  timeout: "It was unused for its timeout.",
  max_duration: "It reached its maximum duration.",
  disconnected: "Its last client left, or none came in time.",
  browser_crashed: "Its browser crashed twice.",
  instance_lost: "Its process was lost.",
  server_stopped: "The service was stopped.",
};
