import { isFailed, type NetworkRequest } from "../telemetry/requests.ts";

export const outcomes = ["failed", "ok", "redirect", "running"] as const;
export type Outcome = (typeof outcomes)[number];

export interface RequestFilters {
  readonly find?: string | undefined;
  /** Lower case, as CDP names it; `fetch` includes `xhr`. */
  readonly type?: string | undefined;
  readonly outcome?: Outcome | undefined;
}

export function typeOf({ type }: NetworkRequest): string {
  const name = type.toLowerCase();
  return name === "xhr" ? "fetch" : name === "" ? "other" : name;
}

export function outcomeKind(request: NetworkRequest): Outcome {
  if (isFailed(request)) return "failed";
  const { durationMs, redirectedTo, status = 0 } = request;
  if (redirectedTo !== undefined || (status >= 300 && status < 400)) return "redirect";
  return durationMs === undefined ? "running" : "ok";
}

/** The words are in the address, the method or the status. */
export function matching(requests: readonly NetworkRequest[], filters: RequestFilters): NetworkRequest[] {
  const words = (filters.find ?? "").trim().toLowerCase();
  return requests.filter(
    (request) =>
      (filters.type === undefined || typeOf(request) === filters.type) &&
      (filters.outcome === undefined || outcomeKind(request) === filters.outcome) &&
      (words === "" || `${request.method} ${request.url} ${request.status ?? ""}`.toLowerCase().includes(words)),
  );
}
