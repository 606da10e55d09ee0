import * as z from "zod/mini";
import { Timestamp } from "./common.ts";
import { checked, lazyObject, openEnum, type Schema } from "./schema.ts";

export const OrgLimitsShape = lazyObject(() => ({
  /** Sessions that may run at once in all projects together, those that pools hold among them. */
  max_concurrent_sessions: z.optional(z.int()),
  /** The same for each project that has no limit of its own; `null` = only the organisation's limit holds. */
  default_project_max_concurrent_sessions: z.optional(z.nullable(z.int())),
  /** Managed-auth connections there may be; `null` = any number. */
  max_auth_connections: z.optional(z.nullable(z.int())),
  /** Managed-auth connections there are. */
  auth_connections_used: z.optional(z.int()),
  /** Seconds that must at least lie between two health checks of a managed-auth connection. */
  min_health_check_interval_seconds: z.optional(z.int()),
}));
/** How much the organisation may use at once. */
export interface OrgLimits extends z.output<typeof OrgLimitsShape> {}
export const OrgLimits: Schema<OrgLimits> = OrgLimitsShape;

export const UpdateOrgLimitsShape = lazyObject(() => ({
  /** Sessions at once for each project that has no limit of its own, at most the organisation's; 0 takes the limit away, `null` or absent leaves it. */
  default_project_max_concurrent_sessions: z.optional(z.nullable(checked(z.int(), z.minimum(0), z.maximum(1_000_000)))),
}));
/** What `organization.limits.update` takes. */
export interface UpdateOrgLimits extends z.input<typeof UpdateOrgLimitsShape> {}
export const UpdateOrgLimits: Schema<z.output<typeof UpdateOrgLimitsShape>, UpdateOrgLimits> = UpdateOrgLimitsShape;

const Feature = lazyObject(() => ({
  /** Whether it can be used. */
  enabled: z.boolean(),
}));

export const OrgPlanShape = lazyObject(() => ({
  /** The plan that was chosen. */
  id: openEnum("FREE", "HOBBYIST", "START_UP", "ENTERPRISE"),
  /** The plan that holds now; differs from `id` during a trial, for one. */
  effective_id: openEnum("FREE", "HOBBYIST", "START_UP", "ENTERPRISE"),
  /** Whether a trial runs. */
  is_trialing: z.boolean(),
  /** How its payment stands; `null` where nothing is to be paid. */
  status: z.nullable(openEnum("NEEDS_PAYMENT_METHOD", "ACTIVE", "CANCELED", "UNPAID")),
  /** When the trial ends; `null` without one. */
  trial_ends_at: z.nullable(Timestamp),
}));

export const OrgFeaturesShape = lazyObject(() => ({
  /** Extensions in sessions. */
  browser_extensions: z.object({
    /** Whether it can be used. */
    enabled: z.boolean(),
    /** Extensions that may be stored; `null` = any number. */
    max_stored_per_org: z.nullable(z.int()),
  }),
  /** Pools of warm sessions. */
  browser_pools: Feature,
  /** Recordings of sessions. */
  browser_replays: z.object({
    /** Whether it can be used. */
    enabled: z.boolean(),
    /** Days that recordings are kept. */
    retention_days: z.int(),
  }),
  /** Secrets from password managers. */
  credential_providers: Feature,
  /** Stored secrets. */
  credentials: Feature,
  /** Proxies of the user's own. */
  custom_proxies: Feature,
  /** Files of sessions. */
  file_io: Feature,
  /** Sessions with a GPU. */
  gpu: Feature,
  /** Connections that keep a profile logged in. */
  managed_auth: z.object({
    /** Whether it can be used. */
    enabled: z.boolean(),
    /** Seconds between two health checks where nothing else was asked for. */
    health_check_interval_default_seconds: z.int(),
    /** Longest time between two health checks, in seconds. */
    health_check_interval_max_seconds: z.int(),
    /** Shortest time between two health checks, in seconds. */
    health_check_interval_min_seconds: z.int(),
    /** Connections there may be; `null` = any number. */
    max_connections: z.nullable(z.int()),
  }),
  /** Proxies that the operator provides. */
  managed_proxies: Feature,
  /** Saved browser state. */
  profiles: Feature,
  /** Hosts that are reached without the proxy. */
  proxy_bypass_hosts: Feature,
}));

export const OrgEntitlementLimitsShape = lazyObject(() => ({
  /** Sessions that may run at once. */
  max_concurrent_browsers: z.int(),
  /** App invocations that may run at once. */
  max_concurrent_invocations: z.int(),
  /** App invocations of one app that may run at once, where the app has no limit of its own. */
  default_max_concurrent_invocations_per_app: z.int(),
}));

export const OrgEntitlementsShape = lazyObject(() => ({
  /** The plan. */
  plan: OrgPlanShape,
  /** What can be used. */
  features: OrgFeaturesShape,
  /** How much of it at once. */
  limits: OrgEntitlementLimitsShape,
}));
/** What the organisation may use. */
export interface OrgEntitlements extends z.output<typeof OrgEntitlementsShape> {}
export const OrgEntitlements: Schema<OrgEntitlements> = OrgEntitlementsShape;

const Scope = lazyObject(() => ({
  /** The one project; `null` = all of the organisation. */
  project_id: z.nullable(z.string()),
}));

export const AuthContextShape = lazyObject(() => ({
  /** How the caller proved who it is. */
  authentication: z.object({
    /** `api_key`, or `jwt` of a login. */
    method: openEnum("api_key", "jwt"),
    /** Where the credential comes from. */
    source: openEnum("api_key", "oauth", "dashboard"),
    /** Id of the API key; `null` where there is none. */
    credential_id: z.nullable(z.string()),
  }),
  /** What the caller may reach. */
  authorization: z.object({
    /** What the credential opens. */
    credential_scope: Scope,
    /** What this call could reach: the credential's scope, narrowed by the project that the call names. */
    effective_scope: Scope,
  }),
  /** The caller's organisation. */
  organization: z.object({
    /** Stable identifier. */
    id: z.string(),
  }),
  /** Who calls. */
  principal: z.object({
    /** Id of the key or the person. */
    id: z.string(),
    /** Which of the two it is. */
    type: openEnum("api_key", "user"),
  }),
}));
/** Who a call comes from, and what it may reach. */
export interface AuthContext extends z.output<typeof AuthContextShape> {}
export const AuthContext: Schema<AuthContext> = AuthContextShape;
