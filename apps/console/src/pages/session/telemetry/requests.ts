import type { TelemetryEnvelope } from "@shoal/schemas";

/** Requests with this status or a higher one failed. */
export const firstErrorStatus = 400;

/** A request with its answer or failure. */
export interface NetworkRequest {
  readonly id: string;
  readonly seq: number;
  readonly method: string;
  readonly url: string;
  /** As CDP names it: `Document`, `Script`, `XHR`, … */
  readonly type: string;
  readonly mimeType: string | undefined;
  readonly initiator: string | undefined;
  /** The document in which it happened, by its loader. */
  readonly loader: string | undefined;
  /** Epoch milliseconds. */
  readonly startedMs: number;
  /** To the end of the answer. */
  readonly durationMs: number | undefined;
  readonly status: number | undefined;
  readonly statusText: string | undefined;
  readonly failure: string | undefined;
  /** The address to which its answer redirected. */
  readonly redirectedTo: string | undefined;
  readonly requestHeaders: Headers;
  readonly responseHeaders: Headers;
  readonly postData: string | undefined;
  readonly body: string | undefined;
  /** Telemetry cut the body, the headers or the address for their size. */
  readonly isCut: boolean;
}

export type Headers = readonly (readonly [name: string, value: string])[];
type Data = Readonly<Record<string, unknown>>;
type Mutable = { -readonly [Name in keyof NetworkRequest]: NetworkRequest[Name] };

const textIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

function headersIn(value: unknown): Headers {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).map(([name, text]) => [name, String(text)] as const);
}

/** Joins the events of each request. Redirects have the id of the first request and become separate requests. */
export function requestsOf(events: readonly TelemetryEnvelope[]): NetworkRequest[] {
  const requests: Mutable[] = [];
  const open = new Map<string, Mutable>();
  for (const { event, seq } of events) {
    const data: Data = { ...event.data };
    const id = textIn(data.request_id);
    if (id === undefined) continue;
    const place = { id, seq, ms: event.ts / 1000, isCut: event.truncated === true };
    if (event.type === "network_request") {
      const request = begun(data, place);
      const before = open.get(id);
      if (before !== undefined) {
        before.durationMs = place.ms - before.startedMs;
        before.redirectedTo = request.url;
      }
      requests.push(request);
      open.set(id, request);
      continue;
    }
    if (event.type !== "network_response" && event.type !== "network_loading_failed") continue;
    let request = open.get(id);
    if (request === undefined) {
      request = begun({ ...data, headers: undefined }, place);
      requests.push(request);
    }
    // The request that follows a redirect has the same id.
    if (data.is_redirect === true) open.set(id, request);
    else open.delete(id);
    end(request, data, place);
  }
  return requests;
}

interface Place {
  readonly id: string;
  readonly seq: number;
  readonly ms: number;
  readonly isCut: boolean;
}

function end(request: Mutable, data: Data, { ms, isCut }: Place): void {
  request.durationMs = ms - request.startedMs;
  request.status = typeof data.status === "number" ? data.status : undefined;
  request.statusText = textIn(data.status_text);
  request.failure = textIn(data.error_text);
  request.mimeType = textIn(data.mime_type);
  request.responseHeaders = headersIn(data.headers);
  request.body = textIn(data.body);
  request.isCut ||= isCut;
}

function begun(data: Data, { id, isCut, ms, seq }: Place): Mutable {
  return {
    id,
    seq,
    method: textIn(data.method) ?? "GET",
    url: textIn(data.url) ?? "",
    type: textIn(data.resource_type) ?? "",
    mimeType: undefined,
    initiator: textIn(data.initiator_type),
    loader: textIn(data.loader_id),
    startedMs: ms,
    durationMs: undefined,
    status: undefined,
    statusText: undefined,
    failure: undefined,
    redirectedTo: undefined,
    requestHeaders: headersIn(data.headers),
    responseHeaders: [],
    postData: textIn(data.post_data),
    body: undefined,
    isCut,
  };
}

/** `failed`, `200`, `…` while it runs, `→` for a redirect in telemetry of older versions, which has no status. */
export function outcomeOf({ durationMs, failure, redirectedTo, status }: NetworkRequest): string {
  if (failure !== undefined) return "failed";
  if (status !== undefined) return String(status);
  if (redirectedTo !== undefined) return "→";
  return durationMs === undefined ? "…" : "–";
}

export function isFailed({ failure, status = 0 }: NetworkRequest): boolean {
  return failure !== undefined || status >= firstErrorStatus;
}
