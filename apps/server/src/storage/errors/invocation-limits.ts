import { projectRunsTooManyInvocations } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";

export interface InvocationLimits {
  /** 0 = no limit. */
  readonly perProject: number;
  /** 0 = no limit. */
  readonly perApp: number;
  readonly perOrganization: number;
}

/** Raised by the database function `shoal_admit_invocation`. */
const limitReached = "SH430";

/** Whether a project, an app or the organisation runs as many invocations as it may. */
export function isInvocationLimit(error: unknown): error is Error & { readonly detail: string } {
  return error instanceof Error && "code" in error && error.code === limitReached && "detail" in error;
}

/** Converts an exceeded limit of invocations to 429 with limit, used and remaining; returns other errors unchanged. */
export function explainInvocationLimit(error: unknown): unknown {
  if (!isInvocationLimit(error)) return error;
  const { scope, limit, used } = JSON.parse(error.detail) as { scope: string; limit: number; used: number };
  if (scope === "project") return ServiceError.of(projectRunsTooManyInvocations({ limit, used }), { cause: error });
  const [who, raise] =
    scope === "app"
      ? ["This app", "the setting max_invocations_per_app"]
      : ["The organisation", "the setting max_invocations_per_organization"];
  return new ServiceError(
    429,
    "too_many_requests",
    `${who} has ${String(used)} running invocations; the limit is ${String(limit)}. Wait until one ends, or raise the limit with ${raise}.`,
    { retryAfterSeconds: 2, fields: { limit, used, remaining: Math.max(0, limit - used) }, cause: error },
  );
}
