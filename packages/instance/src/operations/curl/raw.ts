import { readAtMost } from "@shoal/primitives/node";
import { anySignal, messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { requestIdOf } from "@shoal/router/http";
import { type IncomingMessage, type ServerResponse, validateHeaderName, validateHeaderValue } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { CurlBrowser } from "./curl-browser.ts";
import type { ExchangeAnswer } from "./navigation.ts";
import { sendThroughBrowser } from "./send.ts";

/** Largest request body in bytes: it goes to the browser in one piece. */
export const maxRequestBodyBytes = 32 * 2 ** 20;
const defaultTimeoutMs = 30_000;
const methods = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);
/** Headers of the connection to this program, of the client's route to it, or that only a browser can set. */
const notPassed =
  /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-length|accept-encoding|sec-.*|forwarded|x-forwarded-.*|x-request-id|x-stainless-.*|x-kernel-.*|x-shoal-.*|idempotency-key|traceparent|tracestate)$/i;
/** Default user agents of HTTP clients. */
const clientNames = /^(node|undici|Deno\/|Bun\/|Kernel\/)/;
const notAnswered = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "content-encoding",
  "content-length",
  "x-shoal-error",
  "x-request-id",
]);

/** `?url=…[&timeout_ms=…]`: returns the site's answer as it is. Own errors carry `X-Shoal-Error`. Never throws. */
export async function serveRaw(
  browser: CurlBrowser,
  request: IncomingMessage,
  response: ServerResponse,
  closed: AbortSignal,
): Promise<void> {
  const requestId = requestIdOf(request.headers);
  const gone = new AbortController();
  response.on("close", () => {
    if (!response.writableFinished) gone.abort(new Error("the client has disconnected"));
  });
  let answer: ExchangeAnswer | undefined;
  try {
    const { url, timeoutMs } = readQuery(request);
    const signal = anySignal([gone.signal, closed, AbortSignal.timeout(timeoutMs)]);
    const body = await readBody(request);
    answer = await sendThroughBrowser(browser, {
      url,
      method: request.method ?? "GET",
      headers: passedHeaders(request),
      body,
      signal,
    });
    response.writeHead(answer.status, ["X-Request-Id", requestId, ...answeredHeaders(answer)]);
    // `flushHeaders` would encode bytes above 0x7f again.
    response.write("", "latin1");
    await pipeline(Readable.from(answer.body), response);
  } catch (error) {
    // Within a body, only a broken connection can signal the error.
    if (response.headersSent || response.destroyed) response.destroy();
    else refuse(response, error, requestId);
  } finally {
    await answer?.end();
  }
}

/** As names and values in turn. Sites send bytes that Node refuses as characters; invalid ones are dropped. */
function answeredHeaders({ headers }: ExchangeAnswer): readonly string[] {
  return headers.flatMap(([name, value]) => {
    if (notAnswered.has(name.toLowerCase())) return [];
    const bytes = /[^\0-\xff]/.test(value) ? Buffer.from(value).toString("latin1") : value;
    try {
      validateHeaderName(name);
      validateHeaderValue(name, bytes);
    } catch {
      return [];
    }
    return [name, bytes];
  });
}

function refuse(response: ServerResponse, error: unknown, requestId: string): void {
  const known = ServiceError.isInstance(error)
    ? error
    : new ServiceError(500, "internal_error", `The request could not be sent: ${messageOf(error)}.`);
  const text = JSON.stringify(known.toBody());
  response
    .writeHead(known.status, {
      "Content-Type": "application/json; charset=utf-8",
      "Content-Length": Buffer.byteLength(text),
      "X-Request-Id": requestId,
      "X-Shoal-Error": known.code,
      ...(known.retryAfterSeconds !== undefined && { "Retry-After": String(known.retryAfterSeconds) }),
    })
    .end(text);
}

function readQuery(request: IncomingMessage): { readonly url: string; readonly timeoutMs: number } {
  if (!methods.has(request.method ?? ""))
    throw new ServiceError(
      405,
      "method_not_allowed",
      `/curl/raw accepts ${[...methods].join(", ")}; browsers.curl also sends HEAD and OPTIONS.`,
    );
  const query = new URL(request.url ?? "/", "http://instance").searchParams;
  const url = query.get("url") ?? "";
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new ServiceError(400, "bad_request", "expected an absolute URL that starts with http:// or https://", {
      field: "query.url",
    });
  const timeout = query.get("timeout_ms");
  const timeoutMs = timeout === null ? defaultTimeoutMs : Number(timeout);
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1000 || timeoutMs > 60_000)
    throw new ServiceError(400, "bad_request", "expected a whole number from 1000 to 60000", {
      field: "query.timeout_ms",
    });
  return { url, timeoutMs };
}

function passedHeaders({ rawHeaders }: IncomingMessage): readonly (readonly [string, string])[] {
  const passed: (readonly [string, string])[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    const lower = name.toLowerCase();
    if (
      notPassed.test(lower) ||
      (lower === "user-agent" && clientNames.test(value)) ||
      (lower === "accept-language" && value === "*")
    )
      continue;
    passed.push([name, value]);
  }
  return passed;
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const bytes = await readAtMost(request, maxRequestBodyBytes);
  if (bytes === undefined)
    throw new ServiceError(
      413,
      "payload_too_large",
      `The body exceeds the limit of ${String(maxRequestBodyBytes)} bytes.`,
    );
  return bytes.length === 0 ? undefined : bytes;
}
