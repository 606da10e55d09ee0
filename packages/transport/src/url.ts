import type { Endpoint } from "@shoal/contract";

/** A base address without a trailing slash. @throws {TypeError} when it cannot be one. The address is not repeated, for it may hold a password. */
export function parseBaseUrl(baseUrl: string | URL): string {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new TypeError("baseUrl must be an absolute address, such as http://127.0.0.1:7777.");
  }
  if (!/^https?:$/.test(url.protocol)) throw new TypeError("baseUrl must begin with http:// or https://.");
  if (url.username + url.password + url.search + url.hash !== "")
    throw new TypeError("baseUrl must not hold a user name, a password, a query (?…) or a fragment (#…); give the key as apiKey.");
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function pathSegment(endpoint: Endpoint, name: string, value: unknown): string {
  // Ids and most names: nothing to escape, nothing to refuse.
  if (typeof value === "string" && /^[\w-]+$/.test(value)) return value;
  const what = `${endpoint.operationId}: ${name}`;
  if (typeof value !== "string") throw new TypeError(`${what} must be a string, not ${typeof value}.`);
  // URL parsers resolve the dots, so they would name another operation.
  if (value === "" || value === "." || value === "..") throw new TypeError(`${what} must not be ${value === "" ? "empty" : `"${value}"`}.`);
  if (/\p{Cc}|\p{Cs}/u.test(value)) throw new TypeError(`${what} must not hold control characters or half a surrogate pair.`);
  return encodeURIComponent(value);
}

function queryPair(name: string, value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.length === 0 ? [] : queryPair(name, value.join(","));
  if (typeof value === "object") return Object.entries(value).flatMap(([key, item]) => queryPair(`${name}[${key}]`, item));
  return [`${encodeURIComponent(name)}=${encodeURIComponent(typeof value === "string" ? value : JSON.stringify(value))}`];
}

/**
 * The address of one request.
 *
 * @throws {TypeError} when a path parameter is missing, empty, `.`, `..` or holds a control character.
 */
export function requestUrl(baseUrl: string, endpoint: Endpoint, request: { params?: unknown; query?: unknown }): string {
  const params = (request.params ?? {}) as Readonly<Record<string, unknown>>;
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => pathSegment(endpoint, name, params[name]));
  if (request.query === undefined || request.query === null) return baseUrl + path;
  const query = Object.entries(request.query).flatMap(([name, value]) => queryPair(name, value));
  return baseUrl + path + (query.length > 0 ? `?${query.join("&")}` : "");
}
