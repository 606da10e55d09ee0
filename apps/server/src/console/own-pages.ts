import { ServiceError } from "@shoal/router";
import { isLoopback } from "../http/listen.ts";
import type { RequestHead, RequestOrigins } from "../http/request-origin.ts";

/**
 * Sent by pages of the console, with their page key. Pages of other origins cannot send it without a preflight request,
 * which is refused.
 */
export const consoleHeader = "x-shoal-console";

function forbidden(message: string, hint: string): ServiceError {
  return new ServiceError(403, "forbidden", message, { hint });
}

/**
 * Browsers protect cookies only on https and on this machine.
 * @throws {ServiceError} 403 `forbidden`
 */
export function requireSafeOrigin(baseUrl: string): URL {
  const url = new URL(baseUrl);
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  if (url.protocol === "https:" || isLoopback(hostname) || hostname.endsWith(".localhost")) return url;
  throw forbidden(
    `The console is not available at ${url.origin}: without TLS, others on the network could take over its sessions.`,
    "Use https with a proxy and public_url, or http://127.0.0.1 on the machine of the service.",
  );
}

/**
 * Rejects requests that pages of other origins cause (CSRF).
 * @throws {ServiceError} 403 `forbidden`
 */
export function requireOwnPage(
  request: RequestHead,
  origins: Pick<RequestOrigins, "baseUrlOf">,
  kind: "download" | "request",
): void {
  const { origin } = requireSafeOrigin(origins.baseUrlOf(request));
  const { headers } = request;
  if (kind === "request" && headers[consoleHeader] === undefined)
    throw forbidden(
      "Requests with the cookie of the console need the header X-Shoal-Console.",
      "Programs use an API key: Authorization: Bearer KEY.",
    );
  // Every browser with the console sends it, on https and on this machine.
  if (headers["sec-fetch-site"] !== "same-origin")
    throw forbidden(
      "Only pages of the console may use its cookie, and the header Sec-Fetch-Site is not same-origin.",
      "Use a current browser, or an API key.",
    );
  // Browsers send no Origin with GET to the same origin.
  if (headers.origin === origin || headers.origin === undefined) return;
  throw forbidden(
    `Pages of ${JSON.stringify((headers.origin ?? "").slice(0, 200))} may not use the cookie of the console.`,
    `Open the console at ${origin}; behind a proxy, set public_url or trusted_proxies.`,
  );
}
