import { getBrowser, listTelemetryEvents } from "@shoal/contract";
import * as z from "zod/mini";
import { joined, ownField } from "../base/fields.ts";
import { defineTool, text, type Tool, type ToolAnswer, type ToolCall } from "../base/tool.ts";
import { ToolError } from "../base/tool-error.ts";
import { beforeField, listed, newestEvents, type Numbered, oneLine, type SessionEvent } from "./session-events.ts";

const maxHeaderCharacters = 300;
const maxHeaders = 40;
const maxBodyCharacters = 2_000;

const outcomes = ["network_response", "network_loading_failed", "proxy_error", "network_refused"] as const;
const exchanges = ["network_request", "network_response", "network_loading_failed", "proxy_error"] as const;
type Outcome = Extract<SessionEvent, { type: (typeof outcomes)[number] }>;
type Exchange = Extract<SessionEvent, { type: (typeof exchanges)[number] }>;
type ConsoleEvent = Extract<SessionEvent, { category: "console" }>;

const flag = z.optional(z.boolean());

export const debugTools: readonly Tool[] = [
  defineTool<{ readonly all?: boolean | undefined; readonly before?: string | undefined }>({
    name: "console_messages",
    group: "debug",
    title: "Console messages",
    description: "Errors in the console of the session's pages, newest first.",
    effect: "reads",
    calls: [getBrowser, listTelemetryEvents],
    fields: joined(ownField("all", flag, "Also other messages"), beforeField),
    async run({ all = false, before }, call) {
      const types = all ? (["console_error", "console_log"] as const) : (["console_error"] as const);
      const lines = await listed<ConsoleEvent["type"]>(types, call, { before, lineOf: consoleLine });
      return answer(lines, call, { category: "console", none: all ? "No messages." : "No errors." });
    },
  }),
  defineTool<{
    readonly all?: boolean | undefined;
    readonly url?: string | undefined;
    readonly request?: number | undefined;
    readonly before?: string | undefined;
  }>({
    name: "network_requests",
    group: "debug",
    title: "Network requests",
    description: "Failed requests of the session's pages, newest first, or the headers of one request.",
    effect: "reads",
    calls: [getBrowser, listTelemetryEvents],
    fields: joined(
      joined(
        ownField("all", flag, "Also successful ones"),
        ownField("url", z.optional(z.string().check(z.maxLength(2048))), "Part of the address"),
      ),
      joined(
        ownField("request", z.optional(z.int().check(z.minimum(1))), "Number from the list: headers of this request"),
        beforeField,
      ),
    ),
    async run({ all = false, before, request, url }, call) {
      if (request !== undefined) return { content: [text(await requestText(request, call))] };
      const lineOf = (event: Outcome) => {
        if (url !== undefined && !addressOf(event).toLowerCase().includes(url.toLowerCase())) return undefined;
        return all || isFailure(event) ? outcomeLine(event) : undefined;
      };
      const lines = await listed(outcomes, call, { before, lineOf });
      return answer(lines, call, { category: "network", none: all ? "No requests." : "No failed requests." });
    },
  }),
];

async function answer(
  lines: readonly string[],
  { browser, options, transport }: ToolCall,
  { category, none }: { readonly category: "console" | "network"; readonly none: string },
): Promise<ToolAnswer> {
  if (lines.length > 0) return { content: [text(lines.join("\n"))] };
  const { telemetry } = await transport.call(getBrowser, { params: { id_or_name: await browser() } }, options);
  const isCaptured = telemetry?.browser?.[category]?.enabled === true;
  return { content: [text(isCaptured ? none : `This session does not capture ${category} events.`)] };
}

function consoleLine({ data, type }: ConsoleEvent): string {
  const { level, stack_trace, text: said = "" } = data ?? {};
  const args = data?.args?.join(" ") ?? said;
  const [frame] = stack_trace?.callFrames ?? [];
  const place = frame === undefined ? "" : ` (${frame.url}:${String(frame.lineNumber + 1)})`;
  return `${level ?? (type === "console_error" ? "uncaught" : "log")}: ${oneLine(args, 250)}${place}`;
}

function isFailure(event: Outcome): boolean {
  if (event.type === "network_response") return (event.data?.status ?? 0) >= 400;
  return event.type !== "network_loading_failed" || event.data?.canceled !== true;
}

function addressOf({ data, type }: Outcome): string {
  if (type === "network_refused") return data === undefined ? "" : `${data.host}:${String(data.port)}`;
  return data?.url ?? "";
}

function outcomeLine(event: Outcome): string {
  const address = oneLine(addressOf(event), 300);
  switch (event.type) {
    case "network_response":
      return `${String(event.data?.status ?? 0)} ${event.data?.method ?? ""} ${address}`;
    case "network_loading_failed":
      return `${event.data?.canceled === true ? "canceled" : "failed"} ${address} ${event.data?.error_text ?? ""}`;
    case "proxy_error":
      return `${event.data?.code ?? "proxy_error"} ${address}`;
    case "network_refused":
      return `refused ${address} by ${event.data?.list ?? "a rule"} of the ${event.data?.rules_of ?? "session"}`;
  }
}

/** Every hop of a request. */
async function requestText(number: number, call: ToolCall): Promise<string> {
  const found: Numbered<Exchange>[] = [];
  let id: string | undefined;
  for await (const one of newestEvents(exchanges, call)) {
    if (one.seq < number && id === undefined) break;
    found.push(one);
    if (one.seq === number) id = one.event.data?.request_id;
    // The first event of the request is older than its others.
    if (id !== undefined && one.event.data?.request_id === id && isBeginning(one.event)) break;
  }
  if (id === undefined)
    throw new ToolError("not_found", `No request #${String(number)}.`, "Take a number from network_requests.");
  return found
    .filter(({ event }) => event.data?.request_id === id)
    .reverse()
    .map(({ event }) => hopText(event))
    .join("\n\n");
}

const isBeginning = (event: Exchange): boolean => event.type === "network_request" && event.data?.is_redirect !== true;

function hopText(event: Exchange): string {
  if (event.type === "network_request")
    return [
      `${event.data?.method ?? ""} ${oneLine(event.data?.url ?? "", 2048)}`,
      ...headerLines(event.data?.headers),
      ...bodyLines(event.data?.post_data),
    ].join("\n");
  if (event.type !== "network_response") return outcomeLine(event);
  return [
    oneLine(`${String(event.data?.status ?? 0)} ${event.data?.status_text ?? ""}`, 200),
    ...headerLines(event.data?.headers),
    ...bodyLines(event.data?.body),
  ].join("\n");
}

function headerLines(headers: Readonly<Record<string, unknown>> = {}): readonly string[] {
  return Object.entries(headers)
    .slice(0, maxHeaders)
    .map(([name, value]) => oneLine(`${name}: ${String(value)}`, maxHeaderCharacters));
}

function bodyLines(body: string | undefined): readonly string[] {
  return body === undefined || body === "" ? [] : ["", body.slice(0, maxBodyCharacters)];
}
