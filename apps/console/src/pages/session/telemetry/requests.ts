import type { TelemetryEnvelope } from "@shoal/schemas";

/** Requests with this status or a higher one failed. */
export const firstErrorStatus = 400;

/** A request with its answer or failure. */
export interface NetworkRequest {
  readonly id: string;
  readonly seq: number;
  readonly method: string;
  readonly url: string;
  readonly type: string;
  /** Epoch milliseconds. */
  readonly startedMs: number;
  readonly durationMs: number | undefined;
  readonly status: number | undefined;
  readonly failure: string | undefined;
  readonly requestHeaders: unknown;
  readonly responseHeaders: unknown;
  readonly postData: string | undefined;
  readonly body: string | undefined;
}

type Mutable = { -readonly [Name in keyof NetworkRequest]: NetworkRequest[Name] };

const textIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Joins the events of each request. Redirects have the id of the first request and become separate requests. */
export function requestsOf(events: readonly TelemetryEnvelope[]): NetworkRequest[] {
  const requests: Mutable[] = [];
  const open = new Map<string, Mutable>();
  for (const { event, seq } of events) {
    const data: Readonly<Record<string, unknown>> = { ...event.data };
    const id = textIn(data.request_id);
    if (id === undefined) continue;
    const ms = event.ts / 1000;
    if (event.type === "network_request") {
      const before = open.get(id);
      if (before !== undefined) before.durationMs = ms - before.startedMs;
      const request = begun(data, { id, seq, ms });
      requests.push(request);
      open.set(id, request);
      continue;
    }
    if (event.type !== "network_response" && event.type !== "network_loading_failed") continue;
    let request = open.get(id);
    if (request === undefined) {
      request = begun(data, { id, seq, ms });
      requests.push(request);
    }
    open.delete(id);
    request.durationMs = ms - request.startedMs;
    request.status = typeof data.status === "number" ? data.status : undefined;
    request.failure = textIn(data.error_text);
    request.responseHeaders = data.headers;
    request.body = textIn(data.body);
  }
  return requests;
}

function begun(
  data: Readonly<Record<string, unknown>>,
  { id, seq, ms }: { readonly id: string; readonly seq: number; readonly ms: number },
): Mutable {
  return {
    id,
    seq,
    method: textIn(data.method) ?? "GET",
    url: textIn(data.url) ?? "",
    type: textIn(data.resource_type) ?? "",
    startedMs: ms,
    durationMs: undefined,
    status: undefined,
    failure: undefined,
    requestHeaders: data.headers,
    responseHeaders: undefined,
    postData: textIn(data.post_data),
    body: undefined,
  };
}
