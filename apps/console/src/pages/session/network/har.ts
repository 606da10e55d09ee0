import type { TelemetryEnvelope } from "@shoal/schemas";
import type { Headers, NetworkRequest } from "../telemetry/requests.ts";

interface NamedValue {
  readonly name: string;
  readonly value: string;
}

/** Telemetry does not have the protocol of a request. */
const httpVersion = "";
const unknownSize = -1;

/**
 * An archive in HAR 1.2. Telemetry has no phases of a request, so all of its time is `wait`.
 * @see {@link http://www.softwareishard.com/blog/har-12-spec/ | HAR 1.2}
 */
export function harOf(
  requests: readonly NetworkRequest[],
  events: readonly TelemetryEnvelope[],
  session: string,
): object {
  const pages = pagesOf(requests, events);
  const known = new Set(pages.map(({ id }) => id));
  return {
    log: {
      version: "1.2",
      creator: { name: "Shoal", version: "1", comment: `Telemetry of session ${session}` },
      pages,
      entries: requests.map((request) => entryOf(request, known)),
    },
  };
}

function pagesOf(requests: readonly NetworkRequest[], events: readonly TelemetryEnvelope[]) {
  const documents = new Map<string, NetworkRequest>();
  for (const request of requests)
    if (request.loader !== undefined && request.type === "Document" && !documents.has(request.loader))
      documents.set(request.loader, request);
  const reached = (type: string, loader: string, fromMs: number): number => {
    const found = events.find(({ event }) => event.type === type && loaderOf(event) === loader);
    return found === undefined ? unknownSize : Math.max(0, found.event.ts / 1000 - fromMs);
  };
  return [...documents].map(([loader, { startedMs, url }]) => ({
    startedDateTime: new Date(startedMs).toISOString(),
    id: loader,
    title: url,
    pageTimings: {
      onContentLoad: reached("page_dom_content_loaded", loader, startedMs),
      onLoad: reached("page_load", loader, startedMs),
    },
  }));
}

function loaderOf(event: TelemetryEnvelope["event"]): unknown {
  const { loader_id }: Readonly<Record<string, unknown>> = { ...event.data };
  return loader_id;
}

function entryOf(request: NetworkRequest, pages: ReadonlySet<string>) {
  const { body, durationMs = 0, failure, loader, mimeType, redirectedTo, startedMs, status, statusText } = request;
  const { method, postData, requestHeaders, responseHeaders, url } = request;
  const type = valueOf(responseHeaders, "content-type") ?? mimeType ?? "x-unknown";
  return {
    ...(loader !== undefined && pages.has(loader) && { pageref: loader }),
    startedDateTime: new Date(startedMs).toISOString(),
    time: durationMs,
    request: {
      method,
      url: uriOf(url),
      httpVersion,
      cookies: cookiesIn(valueOf(requestHeaders, "cookie")),
      headers: listOf(requestHeaders),
      queryString: queryOf(url),
      ...(postData !== undefined && {
        postData: { mimeType: valueOf(requestHeaders, "content-type") ?? "", params: [], text: postData },
      }),
      headersSize: unknownSize,
      bodySize: postData === undefined ? 0 : bytesOf(postData),
    },
    response: {
      status: status ?? 0,
      statusText: statusText ?? "",
      httpVersion,
      cookies: [],
      headers: listOf(responseHeaders),
      content: {
        size: Number(valueOf(responseHeaders, "content-length") ?? (body === undefined ? 0 : bytesOf(body))) || 0,
        mimeType: type,
        ...(body !== undefined && { text: body }),
      },
      redirectURL: redirectedTo ?? valueOf(responseHeaders, "location") ?? "",
      headersSize: unknownSize,
      bodySize: unknownSize,
      ...(failure !== undefined && { comment: failure }),
    },
    cache: {},
    timings: { send: 0, wait: durationMs, receive: 0 },
    ...(request.isCut && { comment: "Telemetry cut this request for its size." }),
  };
}

/** Addresses as browsers report them may contain characters that RFC 3986 does not allow, for example in `data:`. */
function uriOf(url: string): string {
  const text = url.toWellFormed();
  const origin = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i.exec(text)?.[0] ?? "";
  const rest = text.slice(origin.length);
  return (
    origin + rest.replaceAll(/[^\w\-.~:/?#@!$&'()*+,;=%]/gu, encodeURIComponent).replaceAll(/%(?![\da-f]{2})/gi, "%25")
  );
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

const listOf = (headers: Headers): NamedValue[] => headers.map(([name, value]) => ({ name, value }));

function valueOf(headers: Headers, wanted: string): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
}

function cookiesIn(header: string | undefined): NamedValue[] {
  if (header === undefined) return [];
  return header.split(/; */).flatMap((pair) => {
    const [name = "", ...value] = pair.split("=");
    return name === "" ? [] : [{ name, value: value.join("=") }];
  });
}

function queryOf(url: string): NamedValue[] {
  if (!URL.canParse(url) || url.startsWith("data:")) return [];
  return [...new URL(url).searchParams].map(([name, value]) => ({ name, value }));
}
