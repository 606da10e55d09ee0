import type { Browser } from "@shoal/schemas";

export const sessionOrders = ["age", "name", "use"] as const;
/** `age`: longest life first, `name`: by name or id, `use`: the longest without use first. Default: the newest first. */
export type SessionOrder = (typeof sessionOrders)[number];

/** Loaded for an order; the rest of a longer list is not sorted. */
export const maxSorted = 1000;

/** In milliseconds since 1970; `undefined` = in use. */
export function lastUseMs({ deleted_at, expires_at, timeout_seconds }: Browser): number | undefined {
  if (deleted_at !== undefined) return Date.parse(deleted_at);
  return expires_at === undefined ? undefined : Date.parse(expires_at) - timeout_seconds * 1000;
}

function lifeMs({ created_at, deleted_at }: Browser, nowMs: number): number {
  return (deleted_at === undefined ? nowMs : Date.parse(deleted_at)) - Date.parse(created_at);
}

const nameOf = ({ name, session_id }: Browser) => name ?? session_id;

/** The order of equal sessions stays. */
export function sorted(
  browsers: readonly Browser[],
  order: SessionOrder | undefined,
  nowMs: number,
): readonly Browser[] {
  if (order === undefined) return browsers;
  const compare = {
    age: (a: Browser, b: Browser) => lifeMs(b, nowMs) - lifeMs(a, nowMs),
    name: (a: Browser, b: Browser) => nameOf(a).localeCompare(nameOf(b), undefined, { numeric: true }),
    use: (a: Browser, b: Browser) => (lastUseMs(a) ?? nowMs) - (lastUseMs(b) ?? nowMs),
  }[order];
  return browsers.toSorted(compare);
}
