import type { Endpoint, ResponseContent } from "@shoal/contract";
import { ignoredFieldsHeader } from "@shoal/router";
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { ignoredFieldsIn } from "./ignored-fields.ts";

/**
 * Headers of a request that an instance is given. All others stay here: credentials of the service, cookies of its origin, and what an
 * identity-aware proxy says about its user (`Cf-Access-Jwt-Assertion`, `X-Auth-Request-*`, `X-Amzn-Oidc-*`, …), under any name.
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
  "x-shoal-stream",
] as const;

/** Headers of a request through the browser that the site is given under their own names. */
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

/** Begins the name of any other header for the site: no proxy sets it by chance. */
export const siteHeaderPrefix = "x-shoal-site-";

/** Headers of an instance's answer that a client is given. Others could act on the service's own origin, or on a proxy in front of it. */
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

/** Likewise, of an answer of a site. */
const siteAnswerHeaders = [...answerHeaders, "content-language", "expires", "link", "location", "x-shoal-error"] as const;
const siteAnswerFamilies = /^(x-)?rate-?limit(-[a-z-]{1,40})?$/;

/** Session content is another party's: a browser must neither run it on the service's origin nor guess another type for it. */
export const untrustedContent: OutgoingHttpHeaders = { "content-security-policy": "sandbox", "x-content-type-options": "nosniff" };

function pick(headers: IncomingHttpHeaders, names: readonly string[]): OutgoingHttpHeaders {
  const kept: OutgoingHttpHeaders = {};
  for (const name of names) if (headers[name] !== undefined) kept[name] = headers[name];
  return kept;
}

/** The headers of a request that its instance is given. */
export function requestHeadersFor(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return pick(headers, requestHeaders);
}

/**
 * The headers of a request through the browser. A browser sends the cookies of the service's own site along without being asked; they
 * are not the site's.
 *
 * @param keepsCredentials - whether `authorization` and `cookie` are for the site, and not what opens the service.
 */
export function siteRequestHeadersFor(headers: IncomingHttpHeaders, keepsCredentials: boolean): OutgoingHttpHeaders {
  const kept = pick(headers, siteHeaders);
  if (!keepsCredentials) delete kept.authorization;
  if (!keepsCredentials || headers["sec-fetch-site"] !== undefined) delete kept.cookie;
  for (const [name, value] of Object.entries(headers)) if (name.startsWith(siteHeaderPrefix)) kept[name.slice(siteHeaderPrefix.length)] = value;
  return kept;
}

/** Which headers of an answer a client is given. */
export type AnswerHeaders = (headers: IncomingHttpHeaders) => OutgoingHttpHeaders;

const essenceOf = (type: string | undefined) => type?.split(";", 1)[0]?.trim().toLowerCase();

/** For an operation, whose answers have the types that the contract declares; anything else is bytes. */
export function answerHeadersOf(endpoint: Endpoint): AnswerHeaders {
  const types = new Set(["application/json", ...Object.values(endpoint.responses).flatMap(typesOf)]);
  return (headers) => {
    const kept = pick(headers, answerHeaders);
    const type = essenceOf(headers["content-type"]);
    if (type !== undefined && !types.has(type)) kept["content-type"] = "application/octet-stream";
    // Asks proxies not to collect the events; only this value is of use to a client.
    if (headers["x-accel-buffering"] === "no") kept["x-accel-buffering"] = "no";
    const ignoredFields = ignoredFieldsIn(headers);
    if (ignoredFields !== undefined) kept[ignoredFieldsHeader] = ignoredFields;
    return { ...kept, ...untrustedContent };
  };
}

function typesOf(content: ResponseContent): readonly string[] {
  if (content.kind === "bytes") return [content.contentType];
  return content.kind === "events" ? ["text/event-stream"] : [];
}

/** For an answer of a site. */
export function answerHeadersOfSite(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const families = Object.keys(headers).filter((name) => siteAnswerFamilies.test(name));
  return { ...pick(headers, [...siteAnswerHeaders, ...families]), ...untrustedContent };
}
