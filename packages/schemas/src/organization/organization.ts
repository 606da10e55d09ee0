import * as z from "zod/mini";
import { KeyPolicy } from "./api-key.ts";
import { Timestamp } from "../base/common.ts";
import { checked, lazyObject, openEnum } from "../base/schema.ts";

/** How much the organisation may use at once. */
export interface OrgLimits extends z.output<typeof OrgLimits> {}
export const OrgLimits = lazyObject(() => ({
  /** Most sessions at once in all projects together, pool browsers included. */
  max_concurrent_sessions: z.optional(z.int()),
  /** Sessions that run now, and the sizes of all pools. */
  concurrent_sessions_used: z.optional(z.nullable(z.int())),
  /** Sessions that may start in addition. */
  concurrent_sessions_available: z.optional(z.nullable(z.int())),
  /** The limit of projects without their own; `null` = only the organisation's limit applies. */
  default_project_max_concurrent_sessions: z.optional(z.nullable(z.int())),
  /** Maximum of managed-auth connections; `null` = unlimited. */
  max_auth_connections: z.optional(z.nullable(z.int())),
  /** Number of managed-auth connections. */
  auth_connections_used: z.optional(z.int()),
  /** Seconds that must at least lie between two health checks of a managed-auth connection. */
  min_health_check_interval_seconds: z.optional(z.int()),
  /** Maximum of vaults; `null` = unlimited. */
  max_vaults: z.optional(z.nullable(z.int())),
  /** Number of vaults. */
  vaults_used: z.optional(z.int()),
}));

/** Input of `organization.limits.update`. */
export interface UpdateOrgLimits extends z.input<typeof UpdateOrgLimits> {}
export const UpdateOrgLimits = lazyObject(() => ({
  /** Most sessions at once in projects without their own limit, at most the organisation's limit; 0 removes it, `null` or absent keeps it. */
  default_project_max_concurrent_sessions: z.optional(z.nullable(checked(z.int(), z.minimum(0), z.maximum(1_000_000)))),
}));

const Feature = lazyObject(() => ({
  /** Whether it can be used. */
  enabled: z.boolean(),
}));

const OrgPlan = lazyObject(() => ({
  /** The plan that was chosen. */
  id: openEnum("FREE", "HOBBYIST", "START_UP", "ENTERPRISE"),
  /** The current plan; differs from `id`, for example during a trial. */
  effective_id: openEnum("FREE", "HOBBYIST", "START_UP", "ENTERPRISE"),
  /** Whether a trial runs. */
  is_trialing: z.boolean(),
  /** Payment status; `null` if nothing is billed. */
  status: z.nullable(openEnum("NEEDS_PAYMENT_METHOD", "ACTIVE", "CANCELED", "UNPAID")),
  /** When the trial ends; `null` without one. */
  trial_ends_at: z.nullable(Timestamp),
}));

const OrgFeatures = lazyObject(() => ({
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
    /** Default seconds between two health checks. */
    health_check_interval_default_seconds: z.int(),
    /** Longest time between two health checks, in seconds. */
    health_check_interval_max_seconds: z.int(),
    /** Shortest time between two health checks, in seconds. */
    health_check_interval_min_seconds: z.int(),
    /** Maximum of connections; `null` = unlimited. */
    max_connections: z.nullable(z.int()),
  }),
  /** Proxies that the operator provides. */
  managed_proxies: Feature,
  /** Saved browser state. */
  profiles: Feature,
  /** Hosts that are reached without the proxy. */
  proxy_bypass_hosts: Feature,
  /** Web search. */
  search: z.optional(Feature),
  /** Vaults of secrets for agents. */
  vaults: z.optional(Feature),
}));

const OrgEntitlementLimits = lazyObject(() => ({
  /** Sessions that may run at once. */
  max_concurrent_browsers: z.int(),
  /** App invocations that may run at once. */
  max_concurrent_invocations: z.int(),
  /** Most concurrent invocations of an app without its own limit. */
  default_max_concurrent_invocations_per_app: z.int(),
  /** Maximum of vaults; `null` = unlimited. */
  max_vaults: z.optional(z.nullable(z.int())),
}));

/** Features and limits of the organisation. */
export interface OrgEntitlements extends z.output<typeof OrgEntitlements> {}
export const OrgEntitlements = lazyObject(() => ({
  /** The plan. */
  plan: OrgPlan,
  /** Available features. */
  features: OrgFeatures,
  /** How much of it at once. */
  limits: OrgEntitlementLimits,
}));

const Scope = lazyObject(() => ({
  /** The one project; `null` = all of the organisation. */
  project_id: z.nullable(z.string()),
}));

/** Identity and access of the caller. */
export interface AuthContext extends z.output<typeof AuthContext> {}
export const AuthContext = lazyObject(() => ({
  /** How the caller authenticated. */
  authentication: z.object({
    /** `api_key`, or `jwt` of a login. */
    method: openEnum("api_key", "jwt"),
    /** Source of the credential. */
    source: openEnum("api_key", "oauth", "dashboard"),
    /** Id of the API key, or `null`. */
    credential_id: z.nullable(z.string()),
  }),
  /** Access of the caller. */
  authorization: z.object({
    /** Scope of the credential. */
    credential_scope: Scope,
    /** What this call could reach: the credential's scope, narrowed by the project that the call names. */
    effective_scope: Scope,
    /** The policy of the calling key; absent = every right in its scope. */
    policy: z.optional(KeyPolicy),
  }),
  /** The caller's organisation. */
  organization: z.object({
    /** Stable identifier. */
    id: z.string(),
  }),
  /** The caller. */
  principal: z.object({
    /** Id of the key or the person. */
    id: z.string(),
    /** Which of the two it is. */
    type: openEnum("api_key", "user"),
  }),
}));
