import * as z from "zod/mini";
import { BrowserTelemetryRequest } from "./browser.ts";
import { pageFields, Timestamp } from "./common.ts";
import { ErrorEventShape, HeartbeatEventShape, type ErrorEvent, type HeartbeatEvent } from "./events.ts";
import { AuthChoice, AuthField, DiscoveredField, MfaOption, SignInOption, SsoButton } from "./managed-auth-flow.ts";
import { flowStatuses, flowSteps, ManagedAuthBrowserConfig, ProxyRef, saidOnce } from "./managed-auth.ts";
import { checked, lazyObject, openEnum, openUnion, type Schema } from "./schema.ts";

const text = (maxLength: number) => checked(z.string(), z.minLength(1), z.maxLength(maxLength));
/** Up to 100 texts by the fields that they are for. */
const fieldValues = () =>
  checked(
    z.record(text(255), checked(z.string(), z.maxLength(65_536))),
    z.refine((values) => Object.keys(values).length <= 100, "at most 100 fields"),
  );
const timelineTypes = ["login", "reauth", "health_check"] as const;

export const StartLoginShape = z.lazy(() =>
  checked(
    z.object({
      /** The proxy that this login uses instead of the connection's. */
      proxy: z.optional(ProxyRef),
      /** Record this login as a replay, or not; the connection's setting when absent. */
      record_session: z.optional(z.boolean()),
      /** What telemetry of this login captures; the connection's setting when absent. */
      browser_telemetry: z.optional(z.nullable(BrowserTelemetryRequest)),
      /** How the browser session of this login starts; what is absent is as the connection says. Takes the place of `proxy` and `browser_telemetry`. */
      browser: z.optional(ManagedAuthBrowserConfig),
    }),
    saidOnce(),
  ),
);
/** What `auth.connections.login` takes, for this one login. */
export interface StartLogin extends z.input<typeof StartLoginShape> {}
export const StartLogin: Schema<z.output<typeof StartLoginShape>, StartLogin> = StartLoginShape;

export const StartedLoginShape = lazyObject(() => ({
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
/** A login that has begun. */
export interface StartedLogin extends z.output<typeof StartedLoginShape> {}
export const StartedLogin: Schema<StartedLogin> = StartedLoginShape;

export const SubmitLoginShape = z.lazy(() =>
  checked(
    z.object({
      /** The `interaction_id` that is answered; needed beside `field_values` and `selected_choice_id`, so that a late answer reaches no later question. */
      interaction_id: z.optional(text(255)),
      /** Texts by the `id` of the field: up to 100 of 65,536 characters. */
      field_values: z.optional(fieldValues()),
      /** The `id` of what was chosen of `choices`. */
      selected_choice_id: z.optional(text(255)),
      /** Texts by the `name` of the discovered field, of older clients; prefer `field_values`. */
      fields: z.optional(fieldValues()),
      /** XPath of the button to press, of older clients; prefer `selected_choice_id`. Not together with `sso_provider`. */
      sso_button_selector: z.optional(text(4096)),
      /** Whose button to press, of older clients; prefer `selected_choice_id`. */
      sso_provider: z.optional(text(255)),
      /** The second factor, by its `type`, of older clients; prefer `selected_choice_id`. */
      mfa_option_id: z.optional(text(255)),
      /** The account, by its `id`, of older clients; prefer `selected_choice_id`. */
      sign_in_option_id: z.optional(text(255)),
    }),
    z.refine(
      (answer) => answer.sso_provider === undefined || answer.sso_button_selector === undefined,
      "give at most one of sso_provider and sso_button_selector",
    ),
  ),
);
/** What `auth.connections.submit` takes. */
export interface SubmitLogin extends z.input<typeof SubmitLoginShape> {}
export const SubmitLogin: Schema<z.output<typeof SubmitLoginShape>, SubmitLogin> = SubmitLoginShape;

export const SubmittedLoginShape = lazyObject(() => ({
  /** Whether the login goes on with it; what comes of it is told by the events. */
  accepted: z.boolean(),
}));
/** Whether what was entered has reached the login. */
export interface SubmittedLogin extends z.output<typeof SubmittedLoginShape> {}
export const SubmittedLogin: Schema<SubmittedLogin> = SubmittedLoginShape;

export const ExchangeHandoffShape = lazyObject(() => ({
  /** The `handoff_code` of the login. It works once. */
  code: text(1024),
}));
/** What `auth.connections.exchange` takes. */
export interface ExchangeHandoff extends z.input<typeof ExchangeHandoffShape> {}
export const ExchangeHandoff: Schema<ExchangeHandoff> = ExchangeHandoffShape;

export const ExchangedHandoffShape = lazyObject(() => ({
  /** Identifier of the login. */
  invocation_id: z.string(),
  /** Token that opens `get`, `submit` and `follow` of this one connection, as a bearer token, while the login goes on. */
  jwt: z.string(),
}));
/** What a page needs to complete a login without an API key. */
export interface ExchangedHandoff extends z.output<typeof ExchangedHandoffShape> {}
export const ExchangedHandoff: Schema<ExchangedHandoff> = ExchangedHandoffShape;

export const ListTimelineShape = lazyObject(() => ({
  ...pageFields,
  /** Events of this kind only. */
  type: z.optional(z.enum(timelineTypes)),
}));
/** What `auth.connections.timeline` takes. */
export interface ListTimeline extends z.input<typeof ListTimelineShape> {}
export const ListTimeline: Schema<z.output<typeof ListTimelineShape>, ListTimeline> = ListTimelineShape;

export const TimelineEventShape = lazyObject(() => ({
  /** A login that a person began, one that the service began, or a look at whether the profile is signed in. */
  type: openEnum(...timelineTypes),
  /** Identifier of the login or check. */
  id: z.string(),
  /** When it began. */
  timestamp: Timestamp,
  /** How it ended; `IN_PROGRESS` while it has not. A check ends in `AUTHENTICATED` or `NEEDS_AUTH`. */
  status: openEnum("IN_PROGRESS", "SUCCESS", "EXPIRED", "CANCELED", "FAILED", "AUTHENTICATED", "NEEDS_AUTH"),
  /** Of a check: what was known before it. */
  previous_status: z.optional(openEnum("AUTHENTICATED", "NEEDS_AUTH")),
  /** Of a login: what it does, or did last. */
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
  /** Why it failed, for programs. */
  error_code: z.optional(z.string()),
  /** Why it failed, for people. */
  error_message: z.optional(z.string()),
  /** What the site said went wrong. */
  website_error: z.optional(z.string()),
  /** The browser session that did it. */
  browser_session_id: z.optional(z.string()),
  /** Its recording, where one was made. */
  replay_id: z.optional(z.string()),
  /** Whether telemetry of it was captured. */
  telemetry_captured: z.optional(z.boolean()),
  /** Of a login: when it last changed. */
  updated_at: z.optional(Timestamp),
}));
/** A login or a check of a connection. */
export interface TimelineEvent extends z.output<typeof TimelineEventShape> {}
export const TimelineEvent: Schema<TimelineEvent> = TimelineEventShape;

export const ManagedAuthStateEventShape = lazyObject(() => ({
  /** Always `managed_auth_state`. */
  event: z.literal("managed_auth_state"),
  /** When it got so. */
  timestamp: Timestamp,
  /** How far the login is. */
  flow_status: openEnum(...flowStatuses),
  /** What the login is doing. */
  flow_step: openEnum(...flowSteps),
  /** Whether a person began it, or the service did. */
  flow_type: z.optional(openEnum("LOGIN", "REAUTH")),
  /** Names what the login waits for now; give it back when you submit. */
  interaction_id: z.optional(z.string()),
  /** What the login wants to be told. */
  fields: z.optional(z.array(AuthField)),
  /** What the login wants to be chosen. */
  choices: z.optional(z.array(AuthChoice)),
  /** What the login wants to be told, for older clients; prefer `fields`. */
  discovered_fields: z.optional(z.array(DiscoveredField)),
  /** Second factors to choose from, for older clients; prefer `choices`. */
  mfa_options: z.optional(z.array(MfaOption)),
  /** Accounts to choose from, for older clients; prefer `choices`. */
  sign_in_options: z.optional(z.array(SignInOption)),
  /** Providers to choose from, for older clients; prefer `choices`. */
  pending_sso_buttons: z.optional(z.array(SsoButton)),
  /** What a person has to do elsewhere, on a phone for instance. */
  external_action_message: z.optional(z.string()),
  /** What the site says went wrong. */
  website_error: z.optional(z.string()),
  /** Why the login failed, for people. */
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
/** A login's state, when it changes and when a reader comes. */
export interface ManagedAuthStateEvent extends z.output<typeof ManagedAuthStateEventShape> {}
export const ManagedAuthStateEvent: Schema<ManagedAuthStateEvent> = ManagedAuthStateEventShape;

export const ManagedAuthEventShape = z.lazy(() =>
  openUnion("event", { managed_auth_state: ManagedAuthStateEventShape, error: ErrorEventShape, sse_heartbeat: HeartbeatEventShape }),
);
/** What is heard of a login, by its `event`. */
export type ManagedAuthEvent = ManagedAuthStateEvent | ErrorEvent | HeartbeatEvent;
export const ManagedAuthEvent: Schema<ManagedAuthEvent> = ManagedAuthEventShape;
