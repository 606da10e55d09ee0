import { ServiceError } from "@shoal/router";
import { CdpError } from "../../browser/cdp/cdp-connection.ts";
import type { CurlBrowser } from "./curl-browser.ts";
import type { ExchangeAnswer, ExchangeRequest } from "./navigation.ts";
import { egressErrors, egressTarget } from "../../egress/failures.ts";
import { NetError } from "./net-errors.ts";

/** Chromium's error names for the gateway's statuses: for plain requests, it only reports a missing answer. */
const names: Readonly<Record<number, string>> = {
  403: "NETWORK_ACCESS_DENIED",
  502: "NAME_NOT_RESOLVED",
  503: "INSUFFICIENT_RESOURCES",
  504: "CONNECTION_TIMED_OUT",
  594: "CONNECTION_REFUSED",
  595: "CONNECTION_RESET",
  596: "CONNECTION_CLOSED",
};

const reasons: Readonly<Record<string, string>> = {
  "net::ERR_NAME_NOT_RESOLVED": "its name does not resolve",
  "net::ERR_CONNECTION_REFUSED": "it refused the connection",
  "net::ERR_CONNECTION_RESET": "it reset the connection",
  "net::ERR_EMPTY_RESPONSE": "it closed the connection without an answer",
  "net::ERR_TIMED_OUT": "it did not answer within timeout_ms",
  "net::ERR_TOO_MANY_REDIRECTS": "it redirects too many times",
  "net::ERR_TUNNEL_CONNECTION_FAILED":
    "its name does not resolve, it refused the connection, or this service blocks browsers from reaching it",
  "net::ERR_NETWORK_ACCESS_DENIED": "this service blocks browsers from reaching it",
  "net::ERR_UNSAFE_PORT": "browsers do not connect to that port",
};

/** Call `end` of the answer. @throws {ServiceError} 502 when no answer arrives, 429, 503. */
export async function sendThroughBrowser(browser: CurlBrowser, request: ExchangeRequest): Promise<ExchangeAnswer> {
  try {
    return await attempt(browser, request);
  } catch (error) {
    throw toServiceError(await explained(error, browser, request.url), request);
  }
}

async function explained(error: unknown, browser: CurlBrowser, url: string): Promise<unknown> {
  if (!(error instanceof NetError) || !egressErrors.has(error.netErrorName)) return error;
  const failure = await browser.failureOf(egressTarget(url));
  if (failure === undefined) return error;
  const message = failure.message.replace(/\.$/, "");
  if (url.startsWith("https:")) return new NetError(error.netErrorName, message);
  const name = `net::ERR_${names[failure.status] ?? "CONNECTION_FAILED"}`;
  return new NetError(name, reasons[name] === undefined || failure.status < 590 ? message : undefined);
}

/** Returns the error for a failed exchange, also for a failure within the body. */
export function toServiceError(error: unknown, { url, signal }: Pick<ExchangeRequest, "url" | "signal">): unknown {
  const isTimeout = signal.aborted && signal.reason instanceof DOMException && signal.reason.name === "TimeoutError";
  const known = isTimeout ? new NetError("net::ERR_TIMED_OUT") : error;
  if (known instanceof NetError) {
    const reason =
      known.message === known.netErrorName ? (reasons[known.netErrorName] ?? known.message) : known.message;
    return new ServiceError(
      502,
      "bad_gateway",
      `${new URL(url).host} could not be reached through the browser: ${reason}.`,
      {
        cause: error,
        fields: {
          ...(known.netError !== undefined && { net_error: known.netError }),
          net_error_name: known.netErrorName,
        },
      },
    );
  }
  if (known instanceof CdpError)
    return new ServiceError(
      503,
      "browser_not_running",
      `The browser ended while it sent the request: ${known.message}`,
      {
        cause: error,
        retryAfterSeconds: 1,
      },
    );
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
  await lease.syncCookies().catch(() => undefined);
  let isWhole = false;
  let ended: Promise<void> | undefined;
  const end = (): Promise<void> =>
    (ended ??= answer.end().finally(() => {
      lease.release(isWhole);
    }));
  async function* read(): ExchangeAnswer["body"] {
    yield* answer.body;
    isWhole = true;
    return undefined;
  }
  return { ...answer, body: read(), end };
}
