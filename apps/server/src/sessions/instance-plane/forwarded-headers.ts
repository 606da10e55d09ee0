import type { Endpoint, ResponseContent } from "@shoal/contract";
import { ignoredFieldsHeader } from "@shoal/router";
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { ignoredFieldsIn } from "./ignored-fields.ts";

/**
 * All other request headers are dropped: the service's credentials and cookies, and the user of an identity-aware proxy
 * (`Cf-Access-Jwt-Assertion`, `X-Auth-Request-*`, `X-Amzn-Oidc-*`, …).
 */
const requestHeaders = [
  "accept",
  "content-encoding",
  "content-length",
  "content-type",
  "idempotency-key",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "last-event-id",
  "range",
  "traceparent",
  "tracestate",
  "x-shoal-passive",
  "x-shoal-stream",
] as const;

const siteHeaders = [
  "accept",
  "accept-language",
  "authorization",
  "cache-control",
  "content-encoding",
  "content-language",
  "content-length",
  "content-type",
  "cookie",
  "dnt",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "origin",
  "pragma",
  "prefer",
  "range",
  "referer",
  "user-agent",
  "x-csrf-token",
  "x-requested-with",
  "x-xsrf-token",
] as const;

/** Prefix of any other header for the site; proxies do not set it. */
export const siteHeaderPrefix = "x-shoal-site-";

/** Other answer headers could affect the service's origin or a proxy in front of it. */
const answerHeaders = [
  "accept-ranges",
  "allow",
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-length",
  "content-range",
  "content-type",
  "etag",
  "last-modified",
  "retry-after",
  "x-should-retry",
  "x-sse-content-type",
] as const;

const siteAnswerHeaders = [
  ...answerHeaders,
  "content-language",
  "expires",
  "link",
  "location",
  "x-shoal-error",
] as const;
const siteAnswerFamilies = /^(x-)?rate-?limit(-[a-z-]{1,40})?$/;

/** Session content is untrusted: a browser must not run it on the service's origin or guess its type. */
export const untrustedContent: OutgoingHttpHeaders = {
  "content-security-policy": "sandbox",
  "x-content-type-options": "nosniff",
};

function pick(headers: IncomingHttpHeaders, names: readonly string[]): OutgoingHttpHeaders {
  const kept: OutgoingHttpHeaders = {};
  for (const name of names) if (headers[name] !== undefined) kept[name] = headers[name];
  return kept;
}

export function requestHeadersFor(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return pick(headers, requestHeaders);
}

/**
 * A browser adds cookies of the service's site automatically; they are not for the target site.
 * @param keepsCredentials - true if `authorization` and `cookie` are for the target site, not for the service.
 */
export function siteRequestHeadersFor(headers: IncomingHttpHeaders, keepsCredentials: boolean): OutgoingHttpHeaders {
  const kept = pick(headers, siteHeaders);
  if (!keepsCredentials) delete kept.authorization;
  if (!keepsCredentials || headers["sec-fetch-site"] !== undefined) delete kept.cookie;
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith(siteHeaderPrefix)) kept[name.slice(siteHeaderPrefix.length)] = value;
  return kept;
}

export type AnswerHeaders = (headers: IncomingHttpHeaders) => OutgoingHttpHeaders;

const essenceOf = (type: string | undefined) => type?.split(";", 1)[0]?.trim().toLowerCase();

/** For an operation: content types that the contract does not declare become bytes. */
export function answerHeadersOf(endpoint: Endpoint): AnswerHeaders {
  const types = new Set(["application/json", ...Object.values(endpoint.responses).flatMap(typesOf)]);
  const isPaged = Object.values(endpoint.responses).some(({ kind }) => kind === "page");
  return (headers) => {
    const kept = pick(headers, answerHeaders);
    const type = essenceOf(headers["content-type"]);
    if (type !== undefined && !types.has(type)) kept["content-type"] = "application/octet-stream";
    // Tells proxies not to buffer events; other values are useless to a client.
    if (headers["x-accel-buffering"] === "no") kept["x-accel-buffering"] = "no";
    if (isPaged) Object.assign(kept, pageHeadersIn(headers));
    const ignoredFields = ignoredFieldsIn(headers);
    if (ignoredFields !== undefined) kept[ignoredFieldsHeader] = ignoredFields;
    return { ...kept, ...untrustedContent };
  };
}

const count = /^\d{1,10}$/;
const pageHeaders = { "x-has-more": /^(?:true|false)$/, "x-limit": count, "x-next-offset": count, "x-offset": count };

function pageHeadersIn(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const found = Object.entries(pageHeaders).filter(([name, pattern]) => pattern.test(String(headers[name])));
  return pick(
    headers,
    found.map(([name]) => name),
  );
}
/** Without SVG, which can contain scripts. */
const pictureTypes = ["image/png", "image/jpeg", "image/webp"];

function typesOf(content: ResponseContent): readonly string[] {
  if (content.kind === "bytes") return content.contentType === "image/*" ? pictureTypes : [content.contentType];
  return content.kind === "events" ? ["text/event-stream"] : [];
}

export function answerHeadersOfSite(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const families = Object.keys(headers).filter((name) => siteAnswerFamilies.test(name));
  return { ...pick(headers, [...siteAnswerHeaders, ...families]), ...untrustedContent };
}
