/**
 * Why the gateway could not reach what a page or a program asked for.
 *
 * Statuses: 400 no valid target, 403 refused by policy, 407 the proxy of a browser context wants credentials, 502 the name does not resolve or the session's
 * proxy may not be used, 503 too many connections, 504 timeout, 590 the proxy refused, 592 invalid status, 594 connection refused or unreachable, 595 reset,
 * 596 broken, 597 the proxy rejects the credentials, 599 any other error.
 */
export class EgressFailure extends Error {
  override readonly name = "EgressFailure";
  readonly status: number;
  /** System error code, such as `ECONNREFUSED`; the reason phrase of the answer. */
  readonly code: string | undefined;
  /** Header of a 407 answer. */
  readonly proxyAuthenticate: string | undefined;

  /** @param message - one sentence for people, with its period. */
  constructor(status: number, message: string, details: { readonly code?: string; readonly proxyAuthenticate?: string } = {}) {
    super(message);
    this.status = status;
    this.code = details.code;
    this.proxyAuthenticate = details.proxyAuthenticate;
  }
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

/** Turns an error of a socket into a failure. @param what - what the connection leads to: `example.com:80`. */
export function connectionFailure(error: unknown, what: string): EgressFailure {
  if (error instanceof EgressFailure) return error;
  const code = codeOf(error);
  const status = (code === undefined ? undefined : statuses[code]) ?? 599;
  const details = code === undefined ? {} : { code };
  return new EgressFailure(status, `The connection to ${what} ${reasons[status] ?? "failed"}${code === undefined ? "" : ` (${code})`}.`, details);
}

/** An error with several addresses has its codes one level below. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
