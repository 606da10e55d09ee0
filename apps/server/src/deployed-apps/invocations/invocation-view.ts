import type { CreatedInvocation, Invocation } from "@shoal/schemas";
import type { InvocationRow } from "./invocation-store.ts";

/** @param queuePosition - of a waiting invocation, if it is known. */
export function toInvocation(row: InvocationRow, queuePosition?: number): Invocation {
  return {
    id: row.id,
    app_name: row.app_name,
    version: row.version,
    action_name: row.action_name,
    status: row.status,
    started_at: row.started_at,
    finished_at: row.finished_at,
    ...(row.payload !== null && { payload: row.payload }),
    ...(row.output !== null && { output: row.output }),
    ...(row.status_reason !== null && { status_reason: row.status_reason }),
    ...(row.attempts.length > 0 && { attempts: [...row.attempts] }),
    ...(queuePosition !== undefined && { queue_position: queuePosition }),
  };
}

export function toCreated(row: InvocationRow, queuePosition?: number): CreatedInvocation {
  return {
    id: row.id,
    action_name: row.action_name,
    status: row.status,
    ...(row.output !== null && { output: row.output }),
    ...(row.status_reason !== null && { status_reason: row.status_reason }),
    ...(queuePosition !== undefined && { queue_position: queuePosition }),
  };
}
