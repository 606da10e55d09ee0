import { isSameSite } from "@shoal/primitives/hosts";
import type { IncomingMessage } from "node:http";

/**
 * Whether the request comes from the site of its target, from the user of the browser, or from a link: as for cookies with
 * `SameSite=Lax`. Pages of other sites must not act with a header that the gateway adds, or read what it opens.
 */
export function isOfOwnSite({ headers, method }: IncomingMessage, target: string): boolean {
  const isReading = method === "GET" || method === "HEAD";
  const { origin, referer, "sec-fetch-dest": dest, "sec-fetch-mode": mode, "sec-fetch-site": site } = headers;
  if (headers.upgrade !== undefined) return origin !== undefined && isSameSite(origin, target);
  if (site !== undefined) return site !== "cross-site" || (isReading && mode === "navigate" && dest === "document");
  // Chromium sends less to hosts with neither TLS nor a loopback address: without a sender, a typed address looks like a
  // frame of another site.
  const from = origin ?? referer;
  return from !== undefined && isSameSite(from, target);
}
