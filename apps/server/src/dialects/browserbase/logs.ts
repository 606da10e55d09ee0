import { serializedBytes } from "@shoal/router";
import { TelemetryEnvelope } from "@shoal/schemas";
import * as z from "zod/mini";
import type { DialectCaller } from "../kit/dialect.ts";
import type { NativeCalls } from "../kit/native-calls.ts";
import { browserOf } from "../kit/browsers.ts";
import type { SessionLog } from "./shapes.ts";

const maxLogs = 1000;
const pageSize = 100;
/** The session chooses their sizes: pictures and bodies have megabytes. */
const maxBytes = 8 * 2 ** 20;

/** Events whose source is another one of the debugging protocol. */
const methods: ReadonlyMap<string, string> = new Map([
  ["console_log", "Runtime.consoleAPICalled"],
  ["console_error", "Runtime.exceptionThrown"],
  ["network_request", "Network.requestWillBeSent"],
  ["network_response", "Network.responseReceived"],
  ["network_loading_failed", "Network.loadingFailed"],
  ["page_navigation", "Page.frameNavigated"],
  ["page_dom_content_loaded", "Page.domContentEventFired"],
  ["page_load", "Page.loadEventFired"],
]);

/** The first stored events of a session, oldest first. */
export async function listLogs({ calls }: DialectCaller, id: string): Promise<SessionLog[]> {
  const { session_id: sessionId } = await browserOf(calls, id);
  const logs: SessionLog[] = [];
  let bytes = 0;
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const page = await eventsOf(calls, sessionId, offset);
    for (const { event } of page.events) {
      const log = toLog(sessionId, event);
      bytes += log.response?.rawBody.length ?? 0;
      if (bytes > maxBytes || logs.length === maxLogs) return logs;
      logs.push(log);
    }
    offset = page.nextOffset;
  }
  return logs;
}

interface Events {
  readonly events: readonly TelemetryEnvelope[];
  readonly nextOffset: number | undefined;
}

async function eventsOf(calls: NativeCalls, id: string, offset: number): Promise<Events> {
  const page = await calls.call("listTelemetryEvents", { params: { id }, query: { limit: pageSize, offset } });
  if (!("items" in page)) return { events: [], nextOffset: undefined };
  const bytes = serializedBytes(page.items);
  const events = bytes === undefined ? page.items : z.array(TelemetryEnvelope).parse(JSON.parse(bytes.toString()));
  return { events, nextOffset: page.hasMore ? page.nextOffset : undefined };
}

function toLog(sessionId: string, { data, source, ts, type }: TelemetryEnvelope["event"]): SessionLog {
  const params: Record<string, unknown> = { ...data };
  const { frame_id: frameId, loader_id: loaderId } = params;
  const timestamp = Math.round(ts / 1000);
  return {
    sessionId,
    pageId: 0,
    method: methods.get(type) ?? source.event ?? `Shoal.${type}`,
    timestamp,
    ...(typeof frameId === "string" && { frameId }),
    ...(typeof loaderId === "string" && { loaderId }),
    request: { params: {}, rawBody: "{}", timestamp },
    response: { result: params, rawBody: JSON.stringify(params), timestamp },
  };
}
