import { invalid, notFound, type Refusal } from "./refusal.ts";

/** 404 for a key that does not exist or was deleted. */
export function apiKeyNotFound(id: string): Refusal {
  return notFound(`API key ${id} was not found, or was deleted.`, "List the keys with apiKeys.list.");
}

/** A project's key cannot create keys for another project. */
export function keyForOtherProject(projectId: string): Refusal {
  return {
    status: 403,
    code: "forbidden",
    problem: `This API key can create keys for its own project only, not for ${projectId}.`,
    hint: "Omit project_id, or use an organisation-wide key.",
  };
}

/** 404 for a new key of a project that does not exist. */
export function keyProjectNotFound(projectId: string): Refusal {
  return {
    status: 404,
    code: "project_not_found",
    problem: `Project ${projectId} was not found.`,
    hint: "Set project_id to the id of a project; list them with projects.list.",
  };
}

/** 400 for a key that deletes itself. */
export function keyDeletesItself(): Refusal {
  return {
    status: 400,
    code: "bad_request",
    problem: "An API key cannot delete itself.",
    hint: "Delete it with another key, or rotate it with expire_in_days 0.",
  };
}

/** The successor of a key would expire before the key. */
export function successorExpiresFirst(days: number, graceDays: number): Refusal {
  return invalid(
    "body.days_to_expire",
    `the new key would live ${String(days)} days, and the old one ${String(graceDays)}`,
    {
      limit: graceDays,
      hint: `Set expire_in_days to ${String(days)} or less, or days_to_expire to ${String(graceDays)} or more.`,
    },
  );
}

const dayMs = 86_400_000;
const maxLifetimeDays = 3650;

/** The end of a new key. */
export interface KeyEnd {
  /** In milliseconds since 1970; `null` = never. */
  readonly endsAtMs: number | null;
  /** For its successors, rounded up; `null` = for ever. */
  readonly lifetimeDays: number | null;
}

/** The end that the caller requests for a new key. */
export interface AskedEnd {
  readonly days_to_expire?: number | null | undefined;
  /** ISO 8601. */
  readonly expires_at?: string | null | undefined;
  /** Lifetime in days if neither is given; `null` or absent = for ever. */
  readonly usualDays?: number | null;
}

/** Returns when a new key expires: as requested, and not after the key that makes it. */
export function endOfKey(asked: AskedEnd, issuerEndsAtMs: number, nowMs: number): KeyEnd | Refusal {
  const { days_to_expire: days = null, expires_at: moment = null, usualDays = null } = asked;
  if (days !== null && moment !== null)
    return invalid("body.expires_at", "cannot be combined with days_to_expire", { hint: "Omit one of them." });
  const afterDays = (count: number | null) => (count === null ? null : nowMs + count * dayMs);
  const askedMs = moment === null ? afterDays(days) : Date.parse(moment);
  const problem = askedMs === null ? undefined : problemOf(askedMs, issuerEndsAtMs, nowMs);
  if (problem !== undefined) return { ...problem, field: moment === null ? "body.days_to_expire" : "body.expires_at" };
  const endsAtMs = Math.min(askedMs ?? afterDays(usualDays) ?? Infinity, issuerEndsAtMs);
  if (endsAtMs === Infinity) return { endsAtMs: null, lifetimeDays: null };
  return { endsAtMs, lifetimeDays: days ?? usualDays ?? Math.ceil((endsAtMs - nowMs) / dayMs) };
}

function problemOf(endsAtMs: number, issuerEndsAtMs: number, nowMs: number): Refusal | undefined {
  if (endsAtMs <= nowMs)
    return invalid("", `${new Date(endsAtMs).toISOString()} is in the past`, { hint: "Set a later moment." });
  if (endsAtMs > nowMs + maxLifetimeDays * dayMs)
    return invalid("", `the key would live more than ${String(maxLifetimeDays)} days`, {
      limit: maxLifetimeDays,
      hint: "Set an earlier moment, or omit it for a key that never expires.",
    });
  if (endsAtMs <= issuerEndsAtMs) return undefined;
  const end = new Date(issuerEndsAtMs).toISOString();
  return invalid("", `the new key would outlive the calling key, which expires at ${end}`, {
    hint: "Set an earlier end, or use a key that lives longer.",
  });
}
