import { projectSessionsExhausted } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";

export interface SessionLimits {
  readonly perProject: number;
  readonly perOrganization: number;
}

/** Raised by the database function `shoal_admit_session`. */
const limitReached = "SH429";

/** Converts an exceeded session limit to 429 with limit, used and remaining; returns other errors unchanged. */
export function explainSessionLimit(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || error.code !== limitReached || !("detail" in error))
    return error;
  const { scope, limit, used } = JSON.parse(String(error.detail)) as { scope: string; limit: number; used: number };
  const refusal = projectSessionsExhausted(limit, used);
  if (scope === "project") return ServiceError.of(refusal, { cause: error });
  return ServiceError.of(
    {
      ...refusal,
      problem: `The organisation has ${String(used)} running sessions; the limit is ${String(limit)} (max_sessions_per_organization).`,
      hint: "Delete a session, wait until one ends, or raise the limit.",
    },
    { cause: error },
  );
}
