import { type FlowState, type LoginAddresses, loginEvent, loginFields } from "@shoal/contract/logins";
import type { AuthConnection, ManagedAuthStateEvent } from "@shoal/schemas";
import { stateOf } from "../flows/flow-store.ts";
import { type FlowRow, statusOf } from "./connection-row.ts";

/** The state that callers see: expired logins have ended. */
function shownState(row: FlowRow, postLoginUrl: string | null): FlowState {
  const state = stateOf(row);
  const current = statusOf(row);
  // `statusOf` is for rows of health checks, too.
  const status = current === "AUTHENTICATED" || current === "NEEDS_AUTH" ? "SUCCESS" : current;
  if (status === "IN_PROGRESS") return state;
  const { error_code: code, error_message: message, website_error: websiteError } = row;
  return {
    status,
    step: "COMPLETED",
    expiresAtMs: state.expiresAtMs,
    ...(code !== null && {
      error: { code, message: message ?? "", ...(websiteError !== null && { websiteError }) },
    }),
    ...(status === "SUCCESS" && postLoginUrl !== null && { postLoginUrl }),
  };
}

/** The part of a connection that describes its latest login. */
export function flowFields(row: FlowRow, addresses: LoginAddresses): Partial<AuthConnection> {
  const fields = loginFields({ state: shownState(row, null), type: typeOf(row), addresses });
  const isRunning = fields.flow_status === "IN_PROGRESS";
  return { ...fields, ...(isRunning && row.session_id !== null && { browser_session_id: row.session_id }) };
}

export function toStateEvent(
  row: FlowRow,
  addresses: LoginAddresses,
  postLoginUrl: string | null,
): ManagedAuthStateEvent {
  return loginEvent({ state: shownState(row, postLoginUrl), type: typeOf(row), addresses }, row.updated_at);
}

function typeOf({ type }: FlowRow): "login" | "reauth" {
  return type === "reauth" ? "reauth" : "login";
}
