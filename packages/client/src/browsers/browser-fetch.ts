import type { curl } from "@shoal/contract";
import type { Curl } from "@shoal/schemas";
import type { ApiError, ConnectionError, Transport, TransportOptions } from "@shoal/transport";
import { bytesOf } from "./base64.ts";
import type { SessionRoute, SessionRoutes } from "./session-routes.ts";

/** Options of a request through the browser. */
export interface BrowserFetchInit {
  /** Default `GET`. */
  readonly method?: string | undefined;
  /** Replace the browser's headers of the same name. Connection headers are omitted. */
  readonly headers?: HeadersInit | undefined;
  readonly body?: BodyInit | null | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for the whole exchange, 1000 to 60,000. Default 30,000. */
  readonly timeoutMs?: number | undefined;
}

export interface BrowserFetchParts {
  readonly transport: Transport;
  readonly routes: SessionRoutes | undefined;
  readonly fetch: TransportOptions["fetch"];
  /** Values of packages: an import in this file, which is loaded later, would put all of their modules into functions. */
  readonly values: FetchValues;
}

export interface FetchValues {
  readonly ApiError: typeof ApiError;
  readonly ConnectionError: typeof ConnectionError;
  readonly curl: typeof curl;
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const ofOneConnection = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailers",
  "transfer-encoding",
  "upgrade",
]);
/** Lists the headers for the site: a reverse proxy on the way may add others. */
const siteHeaderPrefix = "x-shoal-site-";

function methodOf(name: string): (typeof methods)[number] {
  const method = methods.find((known) => known === name.toUpperCase());
  if (method === undefined) throw new TypeError(`Unsupported method ${name}; supported: ${methods.join(", ")}.`);
  return method;
}

/** The request as the runtime parses it: a form becomes bytes with a content type. */
async function readInit(url: string | URL, init: BrowserFetchInit) {
  const target = new URL(url);
  if (!/^https?:$/.test(target.protocol)) throw new TypeError("The URL must start with http:// or https://.");
  const method = methodOf(init.method ?? "GET");
  const isStream = init.body instanceof ReadableStream;
  const request = new Request(target, {
    method,
    headers: init.headers ?? {},
    body: init.body ?? null,
    ...(isStream && { duplex: "half" }),
  });
  const headers = new Headers(request.headers);
  for (const name of ofOneConnection) headers.delete(name);
  const body =
    init.body == null
      ? undefined
      : isStream
        ? (request.body ?? undefined)
        : new Uint8Array(await request.arrayBuffer());
  return { target, method, headers, body };
}
type ReadInit = Awaited<ReturnType<typeof readInit>>;

export async function browserFetch(
  parts: BrowserFetchParts,
  browserId: string,
  url: string | URL,
  init: BrowserFetchInit,
): Promise<Response> {
  const request = await readInit(url, init);
  const { method } = request;
  const route = parts.routes?.get(browserId);
  // The instance would apply these two to itself.
  if (route === undefined || method === "HEAD" || method === "OPTIONS") return viaCurl(parts, browserId, request, init);
  try {
    return await direct(parts, route, request, init);
  } catch (error) {
    if (!parts.values.ConnectionError.isInstance(error)) throw error;
    parts.routes?.forget(browserId);
    // Other methods may already have been executed.
    if (method !== "GET") throw error;
    return viaCurl(parts, browserId, request, init);
  }
}

async function direct(
  { fetch: custom, values }: BrowserFetchParts,
  { baseUrl, token }: SessionRoute,
  { target, method, headers, body }: ReadInit,
  init: BrowserFetchInit,
): Promise<Response> {
  const query = new URLSearchParams({
    url: target.href,
    jwt: token,
    ...(init.timeoutMs !== undefined && { timeout_ms: String(init.timeoutMs) }),
  });
  if (!headers.has("accept")) headers.set("accept", "*/*");
  const marked = new Headers(
    [...headers].map(([name, value]) => [name === "content-type" ? name : siteHeaderPrefix + name, value]),
  );
  const address = `${baseUrl}/curl/raw?${query}`;
  const options: RequestInit & { duplex?: "half" } = {
    method,
    headers: marked,
    body: body ?? null,
    redirect: "manual",
    signal: init.signal ?? null,
    ...(body instanceof ReadableStream && { duplex: "half" }),
  };
  let response: Response;
  try {
    response = await (custom === undefined ? fetch(address, options) : custom(new Request(address, options)));
  } catch (error) {
    init.signal?.throwIfAborted();
    // Without a cause, which may contain the URL with the token.
    throw new values.ConnectionError(
      `browsers.fetch could not reach ${baseUrl}: ${reasonOf(error).replaceAll(token, "[token]")}.`,
    );
  }
  if (response.headers.has("x-shoal-error")) throw await errorIn(response, values);
  // The original URL is that of the instance, with the token.
  return siteResponse(response.body, response, target);
}

/** `Response` accepts only 200 to 599; sites also answer with others, for example 999. */
function siteResponse(
  body: BodyInit | null,
  { status, statusText = "", headers }: Pick<Response, "status" | "headers"> & { readonly statusText?: string },
  { href }: URL,
): Response {
  const isAllowed = status >= 200 && status <= 599;
  const answer = new Response(body, { status: isAllowed ? status : 200, statusText, headers });
  if (!isAllowed) Object.defineProperties(answer, { status: { value: status }, ok: { value: false } });
  Object.defineProperty(answer, "url", { value: href });
  return answer;
}

/** The innermost message of the runtime. */
function reasonOf(error: unknown): string {
  let reason = "no reason was given";
  for (let at = error; at instanceof Error; at = at.cause) reason = at.message === "" ? reason : at.message;
  return reason;
}

async function errorIn(response: Response, values: FetchValues): Promise<ApiError> {
  const code = response.headers.get("x-shoal-error") ?? "internal_error";
  const text = await response.text();
  let message = text;
  let fields: ApiError["fields"] = {};
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null) {
      const { code: _code, message: said, ...others } = body as Readonly<Record<string, unknown>>;
      if (typeof said === "string") message = said;
      fields = Object.fromEntries(
        Object.entries(others).filter((field): field is [string, string | number] =>
          ["string", "number"].includes(typeof field[1]),
        ),
      );
    }
  } catch {
    // Not JSON: use the text.
  }
  return new values.ApiError(message, {
    code,
    status: response.status,
    requestId: response.headers.get("x-request-id") ?? undefined,
    retryable: response.status >= 500,
    fields,
  });
}

async function viaCurl(
  { transport, values }: BrowserFetchParts,
  browserId: string,
  { target, method, headers, body }: ReadInit,
  init: BrowserFetchInit,
): Promise<Response> {
  const text =
    body === undefined
      ? undefined
      : textOf(body instanceof ReadableStream ? new Uint8Array(await new Response(body).arrayBuffer()) : body);
  const request: Curl = {
    url: target.href,
    method,
    headers: Object.fromEntries(headers),
    response_encoding: "base64",
    ...(text !== undefined && { body: text }),
    ...(init.timeoutMs !== undefined && { timeout_ms: init.timeoutMs }),
  };
  // Longer than the browser's own limit, which then reports the timeout. Sent once, as `fetch` does.
  const result = await transport.call(
    values.curl,
    { params: { id: browserId }, body: request },
    { signal: init.signal, timeoutMs: (init.timeoutMs ?? 30_000) + 10_000, maxRetries: 0 },
  );
  const answered = new Headers();
  for (const [name, values] of Object.entries(result.headers)) for (const value of values) answered.append(name, value);
  const isEmpty = [101, 204, 205, 304].includes(result.status);
  return siteResponse(isEmpty ? null : bytesOf(result.body), { status: result.status, headers: answered }, target);
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new TypeError("A body of bytes needs the session's base_url: call browsers.get or browsers.create first.");
  }
}
