import { ServiceError } from "@shoal/router";

/** How many sessions may run at once, where projects and the organisation say nothing themselves. */
export interface SessionLimits {
  /** In each project that has no limit of its own. */
  readonly perProject: number;
  /** In all projects together, on every server. */
  readonly perOrganization: number;
}

/** The condition that the database's `shoal_admit_session` raises. */
const limitReached = "SH429";

/** Of an insert that a limit forbids, 429 `too_many_requests` with the limit, what is used of it, and what remains; any other error as it is. */
export function explainSessionLimit(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || error.code !== limitReached || !("detail" in error)) return error;
  const { scope, limit, used } = JSON.parse(String(error.detail)) as { scope: string; limit: number; used: number };
  const message =
    scope === "project"
      ? `This project runs ${String(used)} sessions, and may run ${String(limit)}. Delete one, wait until one ends, or raise the limit: with projects.limits.update, or for all projects with organization.limits.update or the setting max_sessions_per_project.`
      : `The organisation runs ${String(used)} sessions, and may run ${String(limit)} (the setting max_sessions_per_organization). Delete one, wait until one ends, or raise the limit.`;
  return new ServiceError(429, "too_many_requests", message, {
    retryAfterSeconds: 5,
    fields: { limit, used, remaining: Math.max(0, limit - used) },
    cause: error,
  });
}
