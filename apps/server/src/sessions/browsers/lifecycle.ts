import type { SessionLifecycle } from "@shoal/database";
import type { EndedReason } from "@shoal/schemas";
import { type Access, isPerson } from "../../http/auth/access.ts";
import { namesOf } from "../telemetry/categories.ts";
import type { RunningSession } from "./running-session.ts";
import type { SessionRow } from "./session-store.ts";

export interface EndCause {
  readonly by?: SessionLifecycle["ended_by"];
  /** Of the instance: untrusted. */
  readonly detail?: string | undefined;
}

const maxDetailLength = 2000;
/** Ends without a fault have no detail. */
const faults: ReadonlySet<EndedReason> = new Set(["browser_crashed", "instance_lost"]);

export function noteUse(session: RunningSession): void {
  if (session.idleSinceMs === null && session.lifecycle.first_used_at === undefined)
    session.lifecycle = { ...session.lifecycle, first_used_at: new Date().toISOString() };
}

export function crashText({
  exit_code: code,
  signal,
}: {
  readonly exit_code?: number | null | undefined;
  readonly signal?: string | null | undefined;
}): string {
  return `Chromium crashed with ${signal == null ? `exit code ${String(code)}` : `signal ${signal}`}.`;
}

export function lifecycleAtEnd(
  { captured, lifecycle: { ended_detail: crash, ...lifecycle } }: Pick<RunningSession, "captured" | "lifecycle">,
  reason: EndedReason,
  { by, detail }: EndCause,
): SessionLifecycle {
  const shown = faults.has(reason) ? (detail ?? (reason === "browser_crashed" ? crash : undefined)) : undefined;
  return {
    ...lifecycle,
    ...(captured !== undefined && { captured: namesOf(captured) }),
    ...(by !== undefined && { ended_by: by }),
    // PostgreSQL stores no NUL.
    ...(shown !== undefined && {
      ended_detail: shown.slice(0, maxDetailLength).replaceAll("\0", "").toWellFormed(),
    }),
  };
}

/** The caller as the end of a session names it. */
export function enderOf({ key, role }: Pick<Access, "key" | "role">): NonNullable<EndCause["by"]> {
  return !isPerson({ key, role })
    ? { type: "api_key", id: key.id, name: key.name }
    : { type: "user", id: key.id, ...(key.created_by_email !== "" && { name: key.created_by_email }) };
}

/** When a session ends that starts or is extended now. @param seconds - its maximum duration. */
export function endOf(seconds: number | undefined): Pick<SessionRow, "max_duration_seconds" | "ends_at"> {
  return seconds === undefined
    ? { max_duration_seconds: null, ends_at: null }
    : { max_duration_seconds: seconds, ends_at: new Date(Date.now() + seconds * 1000).toISOString() };
}
