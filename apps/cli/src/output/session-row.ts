import { relativeTime } from "./format.ts";

/** Fields of a session that the row uses. Other services of the same wire may omit them. */
interface ListedSession {
  readonly created_at?: string;
  readonly deleted_at?: string;
  readonly ended_reason?: string;
  readonly expires_at?: string;
  readonly timeout_seconds?: number;
}

/** A row of `shoal browsers list`: the session, and `status`, `age` and `last_used`. */
export function sessionRow(session: object, now: Date = new Date()): object {
  return { ...session, ...statusOf(session, now) };
}

function statusOf(session: ListedSession, now: Date): { status: string; age?: string; last_used?: string } {
  const { created_at, deleted_at, ended_reason, expires_at, timeout_seconds } = session;
  const until = deleted_at === undefined ? now : new Date(deleted_at);
  const age = created_at === undefined ? undefined : ageOf(new Date(created_at), until);
  const aged = age === undefined ? {} : { age };
  if (deleted_at !== undefined)
    return { status: `ended: ${ended_reason ?? "unknown"}`, ...aged, last_used: deleted_at };
  if (expires_at === undefined) return { status: "in use", ...aged, last_used: "now" };
  if (timeout_seconds === undefined) return { status: "idle", ...aged };
  // The service ends an idle session timeout_seconds after its last use.
  const lastUsed = new Date(Date.parse(expires_at) - timeout_seconds * 1000);
  return { status: "idle", ...aged, last_used: lastUsed.toISOString() };
}

const dayMs = 86_400_000;

/** `3 min` or `59 d`. */
export function ageOf(start: Date, now: Date): string {
  const ms = now.getTime() - start.getTime();
  if (ms >= dayMs) return `${String(Math.floor(ms / dayMs))} d`;
  const text = relativeTime(start, now);
  return text === "now" ? "0 s" : text.replace(/ ago$/, "");
}
