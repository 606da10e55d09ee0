import { type AnyValue, type AnyValueMap, SeverityNumber } from "@opentelemetry/api-logs";
import type { TelemetryEvent } from "@shoal/schemas";
import { isEventLine } from "../../../storage/telemetry-files/line-bounds.ts";

export type SeverityText = "DEBUG" | "INFO" | "WARN" | "ERROR";

export interface EventRecord {
  /** Seconds and nanoseconds since 1970. */
  readonly time: [number, number];
  readonly eventName: string;
  readonly severityNumber: SeverityNumber;
  readonly severityText: SeverityText;
  readonly body: string | undefined;
  readonly attributes: AnyValueMap;
}

const semanticNames: Readonly<Record<string, string>> = {
  url: "url.full",
  method: "http.request.method",
  status: "http.response.status_code",
};

const warnings: ReadonlySet<string> = new Set(["monitor_disconnected", "network_refused", "proxy_error"]);
const errors: ReadonlySet<string> = new Set([
  "console_error",
  "monitor_init_failed",
  "monitor_reconnect_failed",
  "service_crashed",
  "system_oom_kill",
]);

function severityOf(type: string, data: Readonly<Record<string, AnyValue>>): SeverityText {
  if (errors.has(type)) return "ERROR";
  if (warnings.has(type)) return "WARN";
  switch (type) {
    case "console_log":
      return data.level === "warning" || data.level === "assert"
        ? "WARN"
        : data.level === "debug" || data.level === "trace"
          ? "DEBUG"
          : "INFO";
    case "network_loading_failed":
      return data.canceled === true ? "INFO" : "WARN";
    case "api_call":
    case "platform_api_call":
      return typeof data.status === "number" && data.status >= 500 ? "ERROR" : "INFO";
    default:
      return "INFO";
  }
}

interface Envelope {
  readonly seq: number;
  readonly event: Pick<TelemetryEvent, "ts" | "category" | "truncated"> & {
    readonly type: string;
    readonly source?: { readonly kind?: string; readonly event?: string };
    readonly data?: Readonly<Record<string, AnyValue>>;
  };
}

/** Checks no more than that: the other fields are handled one by one. */
function isEnvelope(value: unknown): value is Envelope {
  return (
    typeof value === "object" &&
    value !== null &&
    "event" in value &&
    typeof value.event === "object" &&
    value.event !== null
  );
}

/** @param line - from the event files. @returns `undefined` for an invalid line. */
export function recordOf(line: string): EventRecord | undefined {
  if (!isEventLine(line)) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isEnvelope(parsed)) return undefined;
  const { seq, event } = parsed;
  // Collectors get no pictures: `page_picture` has the file for the service alone.
  const { jpeg: _jpeg, outline_after: _after, outline_before: _before, text, ...data } = event.data ?? {};
  const attributes: Record<string, AnyValue> = { "shoal.seq": seq, "shoal.category": event.category };
  if (event.source?.kind !== undefined) attributes["shoal.source"] = event.source.kind;
  if (event.truncated === true) attributes["shoal.truncated"] = true;
  const body = typeof text === "string" ? text : undefined;
  if (text !== undefined && body === undefined) attributes["shoal.data.text"] = text;
  for (const [name, value] of Object.entries(data)) attributes[semanticNames[name] ?? `shoal.data.${name}`] = value;
  const severityText = severityOf(event.type, data);
  return {
    // Whole microseconds keep all digits.
    time: [Math.floor(event.ts / 1e6), (event.ts % 1e6) * 1000],
    eventName: event.type,
    severityNumber: SeverityNumber[severityText],
    severityText,
    body,
    attributes,
  };
}
