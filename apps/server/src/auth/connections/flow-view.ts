import { shownQuestion } from "@shoal/contract/logins";
import type { AuthConnection, ManagedAuthStateEvent } from "@shoal/schemas";
import { stateOf } from "../flows/flow-store.ts";
import { type FlowRow, statusOf } from "./connection-row.ts";

/** The pages of a running login, as the caller sees them. */
export interface FlowAddresses {
  readonly hosted_url?: string;
  readonly live_view_url?: string;
}

function typeOf({ type }: FlowRow): "LOGIN" | "REAUTH" {
  return type === "reauth" ? "REAUTH" : "LOGIN";
}

/** What answers and events say about a login alike. */
function shownFlow(row: FlowRow, addresses: FlowAddresses) {
  const status = statusOf(row);
  // `statusOf` is for rows of health checks, too.
  const flow_status = status === "AUTHENTICATED" || status === "NEEDS_AUTH" ? "SUCCESS" : status;
  const isRunning = flow_status === "IN_PROGRESS";
  const { interactionId, question, step } = stateOf(row);
  return {
    flow_status,
    flow_step: isRunning ? step : ("COMPLETED" as const),
    flow_type: typeOf(row),
    ...(isRunning && { ...addresses, ...(question && { ...shownQuestion(question), interaction_id: interactionId }) }),
    ...(row.error_code !== null && { error_code: row.error_code }),
    ...(row.error_message !== null && { error_message: row.error_message }),
    ...(row.website_error !== null && { website_error: row.website_error }),
  };
}

/** The part of a connection that describes its latest login. */
export function flowFields(row: FlowRow, addresses: FlowAddresses): Partial<AuthConnection> {
  const shown = shownFlow(row, addresses);
  const isRunning = shown.flow_status === "IN_PROGRESS";
  return {
    ...shown,
    flow_expires_at: isRunning ? row.expires_at : null,
    ...(isRunning && row.session_id !== null && { browser_session_id: row.session_id }),
  };
}

export function toStateEvent(
  row: FlowRow,
  addresses: FlowAddresses,
  postLoginUrl: string | null,
): ManagedAuthStateEvent {
  const shown = shownFlow(row, addresses);
  return {
    event: "managed_auth_state",
    timestamp: row.updated_at,
    ...shown,
    ...(shown.flow_status === "SUCCESS" && postLoginUrl !== null && { post_login_url: postLoginUrl }),
  };
}
