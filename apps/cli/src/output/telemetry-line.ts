import type { Terminal } from "../core/types.ts";
import { printable } from "./format.ts";
import { styled } from "./output.ts";

type Fields = Readonly<Record<string, unknown>>;
type Level = "ERROR" | "WARN" | "INFO";

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const words = (...parts: readonly unknown[]) => parts.map(String).filter(Boolean).join(" ");
const failed = (status: unknown) => typeof status === "number" && status >= 400;
const colours = { ERROR: "red", WARN: "yellow", INFO: "dim" } as const;

/** `00:46:16.120  ERROR  console     Uncaught Error: no cart  checkout.js:12`; outside of a terminal, the whole time in UTC. */
export function telemetryLine(terminal: Terminal, event: Fields): string | undefined {
  const { category, data, truncated, ts, type } = event;
  if (typeof type !== "string") return undefined;
  const fields = typeof data === "object" && data !== null ? (data as Fields) : {};
  const level = levelOf(type, fields);
  // Older services omit fields, and a bare name says more than an empty line.
  const known = told.get(type)?.(fields, type) ?? "";
  const said = known === "" ? plain(fields, type) : known;
  const head = [
    styled(terminal, "dim", timeOf(ts, terminal)),
    styled(terminal, colours[level], level.padEnd(5)),
    printable(text(category)).padEnd(11),
  ];
  return `${head.join("  ")}  ${printable(said)}${truncated === true ? " (cut)" : ""}\n`;
}

function timeOf(ts: unknown, { screen }: Terminal): string {
  if (typeof ts !== "number") return "";
  const time = new Date(ts / 1000);
  if (Number.isNaN(time.getTime())) return "";
  if (!screen) return time.toISOString();
  const two = (value: number, digits = 2) => String(value).padStart(digits, "0");
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${two(time.getMilliseconds(), 3)}`;
}

const bad = new Set(["console_error", "network_refused", "proxy_error", "service_crashed", "system_oom_kill"]);

function levelOf(type: string, { canceled, level, status }: Fields): Level {
  if (type === "console_log") return level === "assert" ? "ERROR" : level === "warning" ? "WARN" : "INFO";
  if (type === "network_loading_failed") return canceled === true ? "INFO" : "ERROR";
  return bad.has(type) || type.endsWith("_failed") || failed(status) || status === "failure" ? "ERROR" : "INFO";
}

/** What a line says of the types that a person looks for. */
const told = new Map<string, (data: Fields, type: string) => string>(
  Object.entries({
    console_log: consoleText,
    console_error: consoleText,
    network_request: ({ method, redirect_url, url }) =>
      words(text(method), text(url), text(redirect_url) === "" ? "" : `(redirected from ${text(redirect_url)})`),
    network_response: ({ method, mime_type, status, url }) =>
      words(status ?? "", text(method), text(url), text(mime_type)),
    network_loading_failed: ({ canceled, error_text, url }) =>
      words(canceled === true ? "canceled" : text(error_text), text(url)),
    network_refused: ({ count, host, list, port, rule }) =>
      `${text(host)}:${String(port)} refused by ${list === "deny" ? `deny ${text(rule)}` : `the ${text(list)} list`}, ${String(count)} times`,
    page_navigation: ({ parent_frame_id, url }) =>
      words(parent_frame_id === undefined ? "opened" : "frame opened", text(url)),
    page_crashed: ({ url }) => words("crashed", text(url)),
    page_tab_opened: ({ url }) => words("new tab", text(url)),
    api_call: operation,
    platform_api_call: operation,
    cdp_command: ({ method, url_scheme, x, y }) =>
      words(
        text(method),
        text(url_scheme),
        typeof x === "number" && typeof y === "number" ? `at ${String(x)}, ${String(y)}` : "",
      ),
    monitor_screenshot: () => "screenshot",
  } satisfies Readonly<Record<string, (data: Fields) => string>>),
);

function operation({ duration_ms, operation_id, status }: Fields): string {
  const took = typeof duration_ms === "number" ? `${String(Math.round(duration_ms))} ms` : "";
  return words(status ?? "", text(operation_id), took);
}

function consoleText({ args, line, source_url, stack_trace, text: said }: Fields): string {
  const frames = (stack_trace as { readonly callFrames?: unknown } | null | undefined)?.callFrames;
  const [frame] = Array.isArray(frames) ? (frames as readonly (Fields | null)[]) : [];
  const url = text(frame?.url ?? source_url);
  const at = frame?.lineNumber ?? line;
  const file = /(?<![^/])[^/]+(?=\/?$)/.exec(url.replace(/[?#].*/, ""))?.[0] ?? url;
  const place = file === "" || typeof at !== "number" ? "" : ` ${file}:${String(at + 1)}`;
  return `${Array.isArray(args) && args.length > 0 ? args.map(String).join(" ") : text(said)}${place}`;
}

/** CDP's names of things, which say nothing to a person. */
const identifiers = /(?:^|_)(?:id|seq|timestamp)$|^target_type$/;

/** `page load  url=https://example.com/` */
function plain(data: Fields, type: string): string {
  const pairs = Object.entries(data).flatMap(([name, value]) => {
    const isPlain =
      typeof value === "boolean" || typeof value === "number" || (typeof value === "string" && value !== "");
    return isPlain && !identifiers.test(name) ? [`${name}=${String(value)}`] : [];
  });
  return words(type.replaceAll("_", " "), ...pairs);
}
