import type { Endpoint } from "./endpoint.ts";

/** Statuses of the code that runs before every handler: router, authentication, limits, database. */
const alwaysWithKey = [
  // An invalid `X-Shoal-Project`, `X-Request-Id`, path or parameter.
  400,
  // An invalid key.
  401,
  // A key of another project.
  403,
  // `project_not_found`.
  404,
  // A rate limit.
  429, 500,
  // Draining, overload, no database.
  503,
];
/** A body that arrives too slowly, is too large, or has the wrong type. */
const withBody = [408, 413, 415];
/** An `Idempotency-Key` of another request. */
const withIdempotency = [409, 422];
/** The browser is not running, or its instance does not respond. */
const insideSession = [409];
/** The disk is full. */
const ofWrites = [507];

/** Returns all error statuses of an operation, sorted: declared statuses and statuses that its kind implies. */
export function errorStatusesOf(
  endpoint: Pick<Endpoint, "auth" | "body" | "errors" | "method" | "params" | "plane" | "query">,
): number[] {
  const { auth, body, errors, method, params, plane, query } = endpoint;
  const hasInput = params !== undefined || query !== undefined || body !== undefined;
  return [
    ...new Set([
      ...errors,
      500,
      ...(hasInput ? [400] : []),
      ...(auth === "none" ? [] : alwaysWithKey),
      ...(body === undefined ? [] : withBody),
      ...(method === "POST" && auth !== "none" ? withIdempotency : []),
      ...(plane === "instance" ? insideSession : []),
      ...(method === "GET" ? [] : ofWrites),
    ]),
  ].sort((a, b) => a - b);
}
