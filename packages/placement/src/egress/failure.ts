import { codeOf } from "@shoal/primitives";
import type { RuleRefusal } from "../interface/egress.ts";

export const egressGatewayName = "Shoal egress gateway";

/** The code of a failure that clients read from a header. */
export type ProxyErrorCode = "network_policy_denied" | "destination_route_unavailable" | "not_in_recording";

/**
 * Why the gateway could not reach a target. Statuses: 400 invalid target, 403 refused by policy, 407 the proxy of a
 * browser context requires credentials, 502 the name does not resolve or the session's proxy is forbidden, 503 too many
 * connections, 504 timeout, 590 the proxy refused, 592 invalid status, 594 connection refused or unreachable, 595
 * reset, 596 broken, 597 the proxy rejects the credentials, 599 other errors.
 */
export class EgressFailure extends Error {
  override readonly name = "EgressFailure";
  readonly status: number;
  /** Such as `ECONNREFUSED`; sent as reason phrase. */
  readonly code: string | undefined;
  readonly proxyAuthenticate: string | undefined;
  /** The rule of a session or project that refused it. */
  readonly refusal: RuleRefusal | undefined;
  /** Sent as `X-Shoal-Proxy-Error`, also to browsers, which get no answer for other failures. */
  readonly proxyError: ProxyErrorCode | undefined;

  constructor(
    status: number,
    message: string,
    details: {
      readonly code?: string;
      readonly proxyAuthenticate?: string;
      readonly refusal?: RuleRefusal | undefined;
      readonly proxyError?: ProxyErrorCode;
    } = {},
  ) {
    super(message);
    this.status = status;
    this.code = details.code;
    this.proxyAuthenticate = details.proxyAuthenticate;
    this.refusal = details.refusal;
    this.proxyError =
      details.proxyError ?? (details.refusal?.list === "allowed_hosts" ? "network_policy_denied" : undefined);
  }
}

/** The proxy of a route could not be reached: the host is then not reached in another way. */
export function routeFailure(error: unknown, host: string): EgressFailure {
  const { message } = connectionFailure(error, host);
  return new EgressFailure(502, `${host} is reached by a route of network.proxy_routes only. ${message}`, {
    proxyError: "destination_route_unavailable",
  });
}

const statuses: Readonly<Record<string, number>> = {
  ECONNREFUSED: 594,
  EHOSTUNREACH: 594,
  ENETUNREACH: 594,
  EADDRNOTAVAIL: 594,
  EACCES: 594,
  ECONNRESET: 595,
  EPIPE: 596,
  ETIMEDOUT: 504,
};

const reasons: Readonly<Record<number, string>> = {
  504: "timed out",
  594: "was refused",
  595: "was reset",
  596: "broke",
};

export function connectionFailure(error: unknown, what: string): EgressFailure {
  if (error instanceof EgressFailure) return error;
  const code = firstCode(error);
  const status = (code === undefined ? undefined : statuses[code]) ?? 599;
  const details = code === undefined ? {} : { code };
  return new EgressFailure(
    status,
    `The connection to ${what} ${reasons[status] ?? "failed"}${code === undefined ? "" : ` (${code})`}.`,
    details,
  );
}

/** Node wraps the errors of several addresses in an AggregateError. */
function firstCode(error: unknown): string | undefined {
  return error instanceof AggregateError ? firstCode(error.errors[0]) : codeOf(error);
}

/** The answer to a client that is not the browser, and to CONNECT. */
export function failureAnswer({ code, message, proxyAuthenticate, proxyError, status }: EgressFailure): string {
  const body = `${message}\n`;
  const head = [
    `HTTP/1.1 ${String(status)} ${code ?? "Egress Failure"}`,
    `Server: ${egressGatewayName}`,
    "Connection: close",
    `Date: ${new Date().toUTCString()}`,
    "Content-Type: text/plain; charset=utf-8",
    "Cache-Control: no-store",
    ...(proxyError === undefined ? [] : [`X-Shoal-Proxy-Error: ${proxyError}`, `X-Kernel-Proxy-Error: ${proxyError}`]),
    `Content-Length: ${String(Buffer.byteLength(body))}`,
    ...(proxyAuthenticate === undefined
      ? []
      : [`Proxy-Authenticate: ${proxyAuthenticate.replace(/[^\x20-\x7e]/g, "")}`]),
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}
