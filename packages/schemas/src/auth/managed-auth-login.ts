import * as z from "zod/mini";
import { BrowserTelemetryRequest } from "../telemetry/captured-telemetry.ts";

import { pageFields, Timestamp } from "../base/common.ts";
import { ErrorEvent, HeartbeatEvent } from "../base/events.ts";
import { AuthChoice, AuthField, DiscoveredField, MfaOption, SignInOption, SsoButton } from "./managed-auth-flow.ts";
import { flowStatuses, flowSteps, saidOnce } from "./managed-auth-parts.ts";
import { ManagedAuthBrowserConfig, ProxyRef } from "./managed-auth.ts";
import { checked, lazyObject, openEnum, openUnion } from "../base/schema.ts";
import { atMostOne, maxEntries } from "../base/rules.ts";

const text = (maxLength: number) => checked(z.string(), z.minLength(1), z.maxLength(maxLength));
/** Up to 100 texts by the fields that they are for. */
const fieldValues = () =>
  checked(z.record(text(255), checked(z.string(), z.maxLength(65_536))), maxEntries(100, "fields"));
const timelineTypes = ["login", "reauth", "health_check"] as const;

/** Input of `auth.connections.login`, for this one login. */
export interface StartLogin extends z.input<typeof StartLogin> {}
export const StartLogin = z.lazy(() =>
  checked(
    z.object({
      /** The proxy that this login uses instead of the connection's. */
      proxy: z.optional(ProxyRef),
      /** Record this login as a replay, or not; the connection's setting when absent. */
      record_session: z.optional(z.boolean()),
      /** Telemetry to capture for this login. Default: the connection's setting. */
      browser_telemetry: z.optional(z.nullable(BrowserTelemetryRequest)),
      /** Options of this login's browser session. Absent fields: the connection's. Replaces `proxy` and `browser_telemetry`. */
      browser: z.optional(ManagedAuthBrowserConfig),
      /** `disabled`: find the way to the form again, without the remembered steps of earlier logins. The steps of this login replace them if it succeeds. */
      skill_mode: z._default(z.enum(["enabled", "disabled"]), "enabled"),
    }),
    saidOnce(),
  ),
);

/** A login that has begun. */
export interface StartedLogin extends z.output<typeof StartedLogin> {}
export const StartedLogin = lazyObject(() => ({
  /** The connection's id. */
  id: z.string(),
  /** Whether a person began it, or the service did. */
  flow_type: openEnum("LOGIN", "REAUTH"),
  /** Page to send the person to. */
  hosted_url: z.string(),
  /** When the login is given up. */
  flow_expires_at: Timestamp,
  /** Code that `auth.connections.exchange` takes once, for the page that a person signs in on. */
  handoff_code: z.optional(z.string()),
  /** Page that shows the login's browser live. */
  live_view_url: z.optional(z.string()),
}));

/** Input of `auth.connections.submit`. */
export interface SubmitLogin extends z.input<typeof SubmitLogin> {}
export const SubmitLogin = z.lazy(() =>
  checked(
    z.object({
      /** The `interaction_id` of the question. Required with `field_values` and `selected_choice_id`, so that a late answer does not reach a later question. */
      interaction_id: z.optional(text(255)),
      /** Texts by the `id` of the field: up to 100 of 65,536 characters. */
      field_values: z.optional(fieldValues()),
      /** The `id` of the selected entry of `choices`. */
      selected_choice_id: z.optional(text(255)),
      /** Texts by the `name` of the discovered field, of older clients; prefer `field_values`. */
      fields: z.optional(fieldValues()),
      /** XPath of the button to press, of older clients; prefer `selected_choice_id`. Not together with `sso_provider`. */
      sso_button_selector: z.optional(text(4096)),
      /** Provider whose button to press. For older clients; prefer `selected_choice_id`. */
      sso_provider: z.optional(text(255)),
      /** The second factor, by its `type`, of older clients; prefer `selected_choice_id`. */
      mfa_option_id: z.optional(text(255)),
      /** The account, by its `id`, of older clients; prefer `selected_choice_id`. */
      sign_in_option_id: z.optional(text(255)),
    }),
    atMostOne("sso_provider", "sso_button_selector"),
  ),
);

/** Whether the submitted values reached the login. */
export interface SubmittedLogin extends z.output<typeof SubmittedLogin> {}
export const SubmittedLogin = lazyObject(() => ({
  /** Whether the login accepted it. Events report the result. */
  accepted: z.boolean(),
}));

/** Input of `auth.connections.exchange`. */
export interface ExchangeHandoff extends z.input<typeof ExchangeHandoff> {}
export const ExchangeHandoff = lazyObject(() => ({
  /** The `handoff_code` of the login. It works once. */
  code: text(1024),
}));

/** Data that lets a page complete a login without an API key. */
export interface ExchangedHandoff extends z.output<typeof ExchangedHandoff> {}
export const ExchangedHandoff = lazyObject(() => ({
  /** Identifier of the login. */
  invocation_id: z.string(),
  /** Token that opens `get`, `submit` and `follow` of this one connection, as a bearer token, while the login runs. */
  jwt: z.string(),
}));

/** Input of `auth.connections.timeline`. */
export interface ListTimeline extends z.input<typeof ListTimeline> {}
export const ListTimeline = lazyObject(() => ({
  ...pageFields,
  /** Events of this kind only. */
  type: z.optional(z.enum(timelineTypes)),
}));

/** Input of `auth.connections.check`. */
export interface CheckConnection extends z.input<typeof CheckConnection> {}
export const CheckConnection = lazyObject(() => ({
  /** Wait for the result for up to this many seconds, 0 to 60. */
  wait_seconds: z._default(checked(z.int(), z.minimum(0), z.maximum(60)), 0),
}));

/** A login or a check of a connection. */
export interface TimelineEvent extends z.output<typeof TimelineEvent> {}
export const TimelineEvent = lazyObject(() => ({
  /** A login by a person, a login by the service, or a check whether the profile is signed in. */
  type: openEnum(...timelineTypes),
  /** Identifier of the login or check. */
  id: z.string(),
  /** When it began. */
  timestamp: Timestamp,
  /** How it ended; `IN_PROGRESS` while it has not. A check ends in `AUTHENTICATED` or `NEEDS_AUTH`, or with the previous status if it has no result. */
  status: openEnum("IN_PROGRESS", "SUCCESS", "EXPIRED", "CANCELED", "FAILED", "AUTHENTICATED", "NEEDS_AUTH"),
  /** Of a check: the status before it. */
  previous_status: z.optional(openEnum("AUTHENTICATED", "NEEDS_AUTH")),
  /** Of a login: its current or last step. */
  step: z.optional(
    openEnum(
      "INITIALIZED",
      "DISCOVERING",
      "AWAITING_INPUT",
      "AWAITING_EXTERNAL_ACTION",
      "AWAITING_HUMAN_INTERVENTION",
      "SUBMITTING",
      "COMPLETED",
      "EXPIRED",
    ),
  ),
  /** Why it failed, or why a check has no result, for programs. */
  error_code: z.optional(z.string()),
  /** The reason of the failure, or of the result of a check, for people. */
  error_message: z.optional(z.string()),
  /** The error that the site showed. */
  website_error: z.optional(z.string()),
  /** What a login could not use, for people: a credential provider that did not answer. */
  note: z.optional(z.string()),
  /** The browser session that did it. */
  browser_session_id: z.optional(z.string()),
  /** The recording of the login. */
  replay_id: z.optional(z.string()),
  /** Whether telemetry of it was captured. */
  telemetry_captured: z.optional(z.boolean()),
  /** Of a login: when it last changed. */
  updated_at: z.optional(Timestamp),
}));

/** The state of a login, sent at the start of the stream and at each change. */
export interface ManagedAuthStateEvent extends z.output<typeof ManagedAuthStateEvent> {}
export const ManagedAuthStateEvent = lazyObject(() => ({
  /** Always `managed_auth_state`. */
  event: z.literal("managed_auth_state"),
  /** Time of this state. */
  timestamp: Timestamp,
  /** How far the login is. */
  flow_status: openEnum(...flowStatuses),
  /** Current step of the login. */
  flow_step: openEnum(...flowSteps),
  /** Whether a person began it, or the service did. */
  flow_type: z.optional(openEnum("LOGIN", "REAUTH")),
  /** Identifies the current question of the login. Send it back with your submission. */
  interaction_id: z.optional(z.string()),
  /** Fields to fill in for the login. */
  fields: z.optional(z.array(AuthField)),
  /** Choices that the login offers. */
  choices: z.optional(z.array(AuthChoice)),
  /** Fields to fill in for the login. For older clients; prefer `fields`. */
  discovered_fields: z.optional(z.array(DiscoveredField)),
  /** Second factors to choose from, for older clients; prefer `choices`. */
  mfa_options: z.optional(z.array(MfaOption)),
  /** Accounts to choose from, for older clients; prefer `choices`. */
  sign_in_options: z.optional(z.array(SignInOption)),
  /** Providers to choose from, for older clients; prefer `choices`. */
  pending_sso_buttons: z.optional(z.array(SsoButton)),
  /** Action that a person must take elsewhere, for example on a phone. */
  external_action_message: z.optional(z.string()),
  /** The error that the site shows. */
  website_error: z.optional(z.string()),
  /** The reason of the failure, for people. */
  error_message: z.optional(z.string()),
  /** Why the login failed, for programs. */
  error_code: z.optional(z.string()),
  /** Where the browser was after the login succeeded. */
  post_login_url: z.optional(z.string()),
  /** Page that shows the login's browser live. */
  live_view_url: z.optional(z.string()),
  /** Page on which a person completes the login. */
  hosted_url: z.optional(z.string()),
}));

/** An event of a login, identified by `event`. */
export type ManagedAuthEvent = ManagedAuthStateEvent | ErrorEvent | HeartbeatEvent;
export const ManagedAuthEvent = z.lazy(() =>
  openUnion("event", {
    managed_auth_state: ManagedAuthStateEvent,
    error: ErrorEvent,
    sse_heartbeat: HeartbeatEvent,
  }),
);
