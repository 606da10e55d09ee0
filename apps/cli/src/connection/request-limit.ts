import type { CommandRequest } from "../core/types.ts";

type Fields = Readonly<Record<string, unknown>>;

const usualSeconds = 60;
/** Fields in which a request says how long the service may wait, by their number in a second. */
const waits = { timeout_sec: 1, timeout_ms: 1000, wait: 1, wait_seconds: 1, acquire_timeout_seconds: 1 } as const;

const seconds = (value: unknown, usual: number): number => (typeof value === "number" ? value : usual);

/** Seconds of operations whose limit does not follow from these fields, as in the SDK. */
const own: Readonly<Record<string, (fields: Fields) => number>> = {
  "browsers.create": ({ snapshot }) => (snapshot === undefined ? usualSeconds : 240),
  "browsers.fork": ({ count, names }) =>
    usualSeconds + 20 * Math.ceil(seconds(count, Array.isArray(names) ? names.length : 1) / 4),
  "browsers.snapshot": () => 180,
  "browsers.process.exec": ({ timeout_sec }) => seconds(timeout_sec, Infinity) + 10,
  "browsers.playwright.execute": ({ timeout_sec }) => seconds(timeout_sec, 60) + 10,
  "browsers.repl": ({ timeout_sec }) => seconds(timeout_sec, 60) + 40,
  "browsers.tools.call": ({ timeout_seconds }) => seconds(timeout_seconds, 30) + 15,
  "browsers.webmcp.invokeTool": ({ timeout_sec }) => seconds(timeout_sec, 60) + 15,
  "search.contents": ({ timeout_ms }) => seconds(timeout_ms, 60_000) / 1000 + usualSeconds,
  "browsers.downloads.wait": ({ timeout_seconds }) => seconds(timeout_seconds, 30) + usualSeconds,
};

/** Milliseconds for one attempt of a request. Longer than the wait in the request. */
export function requestLimitMs(operationId: string, { query, body }: Pick<CommandRequest, "query" | "body">): number {
  const fields: Fields = { ...query, ...body };
  const wait = Object.entries(waits).map(([name, inSecond]) => seconds(fields[name], 0) / inSecond);
  const limit = own[operationId]?.(fields) ?? usualSeconds + Math.max(...wait);
  return 1000 * Math.max(usualSeconds, limit);
}
