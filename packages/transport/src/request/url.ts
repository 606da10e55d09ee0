import type { Endpoint } from "@shoal/contract/endpoint";

/**
 * Omits a trailing slash. @throws {TypeError} when it is invalid. The message omits the URL, which may contain a
 * password.
 */
export function parseBaseUrl(baseUrl: string | URL): string {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new TypeError("baseUrl must be an absolute URL, such as http://127.0.0.1:7777.");
  }
  if (!/^https?:$/.test(url.protocol)) throw new TypeError("baseUrl must start with http:// or https://.");
  if (url.username + url.password + url.search + url.hash !== "")
    throw new TypeError(
      "baseUrl must not contain a user name, a password, a query (?…) or a fragment (#…); pass the key as apiKey.",
    );
  return url.origin + url.pathname.replace(/(?<!\/)\/+$/, "");
}

function pathSegment(endpoint: Endpoint, name: string, value: unknown): string {
  // Fast path for ids and most names.
  if (typeof value === "string" && /^[\w-]+$/.test(value)) return value;
  const what = `${endpoint.operationId}: ${name}`;
  if (typeof value !== "string") throw new TypeError(`${what} must be a string, not ${typeof value}.`);
  // URL parsers resolve dots, which would call another operation.
  if (value === "" || value === "." || value === "..")
    throw new TypeError(`${what} must not be ${value === "" ? "empty" : `"${value}"`}.`);
  if (/\p{Cc}|\p{Cs}/u.test(value))
    throw new TypeError(`${what} must not contain control characters or lone surrogates.`);
  return encodeURIComponent(value);
}

function queryPair(name: string, value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.length === 0 ? [] : queryPair(name, value.join(","));
  if (typeof value === "object")
    return Object.entries(value).flatMap(([key, item]) => queryPair(`${name}[${key}]`, item));
  return [
    `${encodeURIComponent(name)}=${encodeURIComponent(typeof value === "string" ? value : JSON.stringify(value))}`,
  ];
}

/** @throws {TypeError} when a path parameter is missing, empty, `.`, `..` or contains control characters. */
export function requestUrl(
  baseUrl: string,
  endpoint: Endpoint,
  request: { params?: unknown; query?: unknown },
): string {
  const params = (request.params ?? {}) as Readonly<Record<string, unknown>>;
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => pathSegment(endpoint, name, params[name]));
  if (request.query === undefined || request.query === null) return baseUrl + path;
  const query = Object.entries(request.query).flatMap(([name, value]) => queryPair(name, value));
  return baseUrl + path + (query.length > 0 ? `?${query.join("&")}` : "");
}
