import type { Endpoint } from "./endpoint.ts";

/** Statuses that come from what stands before every handler: the router, the check of keys, the limits, the database. */
const alwaysWithKey = [
  // An unknown or broken `X-Shoal-Project`, `X-Request-Id`, path or parameter.
  400,
  // No valid key.
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
/** A body that does not arrive in time, is too large, or has another type. */
const withBody = [408, 413, 415];
/** An `Idempotency-Key` that another request has, or had. */
const withIdempotency = [409, 422];
/** The session's browser does not run, or its instance does not answer. */
const insideSession = [409];
/** No room left on the disk. */
const ofWrites = [507];

/** Statuses with an error body that an operation can answer: those that it declares, and those that its kind implies. Sorted. */
export function errorStatusesOf(endpoint: Pick<Endpoint, "auth" | "body" | "errors" | "method" | "params" | "plane" | "query">): number[] {
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
