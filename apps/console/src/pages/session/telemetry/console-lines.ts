import type { TelemetryEnvelope } from "@shoal/schemas";

/** As browser developer tools group them. */
export const consoleLevels = ["error", "warning", "info", "debug"] as const;
export type ConsoleLevel = (typeof consoleLevels)[number];

export interface ConsoleLine {
  readonly seq: number;
  readonly atMs: number;
  readonly level: ConsoleLevel;
  /** Console method as CDP names it: `log`, `warning`, `table`, … */
  readonly method: string;
  readonly text: string;
  /** Place in a script, if known. */
  readonly place?: Place | undefined;
}

interface Place {
  readonly url: string;
  /** From 1. */
  readonly line: number;
}

interface ConsoleFilters {
  readonly find?: string | undefined;
  readonly level?: ConsoleLevel | undefined;
}

/** Groups of console methods; all others count as `info`. */
const levels = new Map<string, ConsoleLevel>([
  ["error", "error"],
  ["assert", "error"],
  ["warning", "warning"],
  ["debug", "debug"],
  ["trace", "debug"],
]);

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

export function consoleLineOf({ event, seq }: TelemetryEnvelope): ConsoleLine {
  const data: Readonly<Record<string, unknown>> = { ...event.data };
  const method = event.type === "console_error" ? "error" : textIn(data.level) || "log";
  const args = Array.isArray(data.args) ? data.args.map(String).join(" ") : "";
  return {
    seq,
    atMs: event.ts / 1000,
    level: levels.get(method) ?? "info",
    method,
    text: args === "" ? textIn(data.text) : args,
    place: placeOf(event),
  };
}

/** The innermost call; exceptions name their script. */
function placeOf(event: TelemetryEnvelope["event"]): Place | undefined {
  if (event.type !== "console_log" && event.type !== "console_error") return undefined;
  const { data } = event;
  if (data === undefined) return undefined;
  const [frame] = data.stack_trace?.callFrames ?? [];
  if (frame !== undefined) return { url: frame.url, line: frame.lineNumber + 1 };
  if (!("source_url" in data) || data.source_url === undefined || data.line === undefined) return undefined;
  return { url: data.source_url, line: data.line + 1 };
}

/** `checkout.js:12` */
export const placeText = ({ line, url }: Place): string =>
  `${/(?<![^/])[^/]+(?=\/?$)/.exec(url.replace(/[?#].*/, ""))?.[0] ?? url}:${line}`;

export function matching(lines: readonly ConsoleLine[], { find = "", level }: ConsoleFilters): ConsoleLine[] {
  const words = find.trim().toLowerCase();
  return lines.filter(
    (line) => (level === undefined || line.level === level) && line.text.toLowerCase().includes(words),
  );
}
