import { hasCode } from "@shoal/primitives";
import { browserOfEndedInvocation, browserOfMissingInvocation } from "@shoal/contract/refusals";
import type { Database } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import { isStorable } from "../../../http/paging.ts";

/** @throws {ServiceError} 404 for an invocation of another project; 409 when it has ended. */
export async function requireActiveInvocation(
  query: Database["query"],
  projectId: string,
  invocationId: string,
): Promise<void> {
  const row = isStorable(invocationId)
    ? await query
        .selectFrom("invocations")
        .select("finished_at")
        .where("id", "=", invocationId)
        .where("project_id", "=", projectId)
        .executeTakeFirst()
    : undefined;
  if (row === undefined) throw ServiceError.of(browserOfMissingInvocation(invocationId));
  if (row.finished_at !== null) throw ServiceError.of(browserOfEndedInvocation(invocationId));
}

/** Raised by the database function `shoal_invocation_active`. */
const hasEnded = "SH409";

/** Converts the refusal of a session whose invocation just ended to 409; returns other errors unchanged. */
export function explainInvocation(error: unknown): unknown {
  return hasCode(error, hasEnded)
    ? ServiceError.of(browserOfEndedInvocation("detail" in error ? String(error.detail) : ""))
    : error;
}
