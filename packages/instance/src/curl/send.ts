import { ServiceError } from "@shoal/router";
import { CdpError } from "../cdp/pipe-connection.ts";
import type { CurlBrowser } from "./curl-browser.ts";
import type { ExchangeAnswer, ExchangeRequest } from "./navigation.ts";
import { NetError } from "./net-errors.ts";

/** Names that the egress gateway's answers stand for: it is a proxy, whose refusals would otherwise look like the site's own answers. */
const gatewayStatuses: Readonly<Record<number, string>> = { 593: "NAME_NOT_RESOLVED", 594: "CONNECTION_REFUSED", 595: "CONNECTION_RESET", 596: "CONNECTION_CLOSED", 599: "CONNECTION_FAILED" };

const reasons: Readonly<Record<string, string>> = {
  "net::ERR_NAME_NOT_RESOLVED": "its name does not resolve",
  "net::ERR_CONNECTION_REFUSED": "it refused the connection",
  "net::ERR_CONNECTION_RESET": "it broke the connection",
  "net::ERR_EMPTY_RESPONSE": "it closed the connection without an answer",
  "net::ERR_TIMED_OUT": "it did not answer within timeout_ms",
  "net::ERR_TOO_MANY_REDIRECTS": "it redirects without end",
  "net::ERR_TUNNEL_CONNECTION_FAILED": "its name does not resolve, it refused the connection, or this service does not let browsers reach it",
  "net::ERR_NETWORK_ACCESS_DENIED": "this service does not let browsers reach it",
  "net::ERR_UNSAFE_PORT": "browsers do not connect to that port",
};

/** Sends a request from the browser. The answer's body must be read to its end, or returned. @throws {ServiceError} 502 when no answer comes, 429, 503. */
export async function sendThroughBrowser(browser: CurlBrowser, request: ExchangeRequest): Promise<ExchangeAnswer> {
  try {
    return await attempt(browser, request);
  } catch (error) {
    throw toServiceError(error, request);
  }
}

/** The error body for what went wrong, also in the midst of a body. */
export function toServiceError(error: unknown, { url, signal }: Pick<ExchangeRequest, "url" | "signal">): unknown {
  const isTimeout = signal.aborted && signal.reason instanceof DOMException && signal.reason.name === "TimeoutError";
  const known = isTimeout ? new NetError("net::ERR_TIMED_OUT") : error;
  if (known instanceof NetError) {
    const reason = reasons[known.netErrorName] ?? known.message;
    return new ServiceError(502, "bad_gateway", `${new URL(url).host} could not be reached through the browser: ${reason}.`, {
      cause: error,
      fields: { ...(known.netError !== undefined && { net_error: known.netError }), net_error_name: known.netErrorName },
    });
  }
  if (known instanceof CdpError) return new ServiceError(503, "browser_not_running", `The browser was lost while it sent the request: ${known.message}`, { cause: error, retryAfterSeconds: 1 });
  return known;
}

async function attempt(browser: CurlBrowser, request: ExchangeRequest): Promise<ExchangeAnswer> {
  const lease = await browser.lease(request.signal);
  let answer: ExchangeAnswer;
  try {
    await lease.syncCookies();
    answer = await lease.target.exchange(request);
  } catch (error) {
    lease.release(error instanceof NetError);
    throw error;
  }
  const refusal = gatewayRefusal(answer);
  await lease.syncCookies().catch(() => undefined);
  const body = released(answer.body);
  if (refusal !== undefined) {
    await body.return(undefined);
    throw new NetError(refusal);
  }
  return { ...answer, body };

  async function* released(pieces: ExchangeAnswer["body"]): ExchangeAnswer["body"] {
    let whole = false;
    try {
      yield* pieces;
      whole = true;
    } finally {
      lease.release(whole);
    }
    return undefined;
  }
}

function gatewayRefusal({ status, headers }: ExchangeAnswer): string | undefined {
  const marked = headers.find(([name]) => name.toLowerCase() === "x-shoal-egress-error")?.[1];
  if (marked !== undefined && /^[A-Z0-9_]+$/.test(marked)) return `net::ERR_${marked}`;
  const byStatus = gatewayStatuses[status];
  // A site that answers with such a status says more than that.
  const isBare = headers.every(([name]) => ["connection", "content-length", "date", "keep-alive", "transfer-encoding"].includes(name.toLowerCase()));
  return byStatus !== undefined && isBare ? `net::ERR_${byStatus}` : undefined;
}
