import type { AuthConnection, ManagedAuthStateEvent } from "@shoal/schemas";
import type { FlowState } from "./flow-state.ts";
import { shownQuestion } from "./question.ts";

/** The pages of a running login, as the caller sees them. */
export interface LoginAddresses {
  readonly hosted_url?: string;
  readonly live_view_url?: string;
}

/** A login with its pages. */
export interface ShownLogin {
  readonly state: FlowState;
  readonly type: "login" | "reauth";
  readonly addresses: LoginAddresses;
}

/** The fields that connections and events share. */
function sharedFields({ addresses, state, type }: ShownLogin) {
  const { error, interactionId, question, status, step } = state;
  return {
    flow_status: status,
    flow_step: step,
    flow_type: type === "reauth" ? ("REAUTH" as const) : ("LOGIN" as const),
    ...(status === "IN_PROGRESS" && addresses),
    ...(question && {
      ...shownQuestion(question),
      ...(interactionId !== undefined && { interaction_id: interactionId }),
    }),
    ...(error && {
      error_code: error.code,
      error_message: error.message,
      ...(error.websiteError !== undefined && { website_error: error.websiteError }),
    }),
  };
}

/** The part of a connection that describes its latest login. */
export function loginFields(login: ShownLogin): Partial<AuthConnection> {
  const { expiresAtMs, status } = login.state;
  return {
    ...sharedFields(login),
    flow_expires_at: status === "IN_PROGRESS" ? new Date(expiresAtMs).toISOString() : null,
  };
}

/** The event that reports a login. @param timestamp - of the last change. */
export function loginEvent(login: ShownLogin, timestamp: string): ManagedAuthStateEvent {
  const { postLoginUrl } = login.state;
  return {
    event: "managed_auth_state",
    timestamp,
    ...sharedFields(login),
    ...(postLoginUrl !== undefined && { post_login_url: postLoginUrl }),
  };
}
