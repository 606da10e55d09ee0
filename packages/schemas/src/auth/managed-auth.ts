import * as z from "zod/mini";
import { BrowserTelemetryRequest } from "../telemetry/captured-telemetry.ts";

import { BrowserProxyConfig, BrowserProxy, BrowserRegionName } from "../sessions/browser-network.ts";
import { DisplayName, pageFields, Timestamp } from "../base/common.ts";
import { AuthChoice, AuthField, DiscoveredField, MfaOption, SignInOption, SsoButton } from "./managed-auth-flow.ts";
import { checked, lazyObject, openEnum } from "../base/schema.ts";
import { flowStatuses, flowSteps, saidOnce } from "./managed-auth-parts.ts";
import { exactlyOne, rule } from "../base/rules.ts";
import { siteName } from "../base/site-name.ts";

const healthCheckInterval = () => checked(z.int(), z.minimum(1), z.maximum(86_400));
const domainName = (wildcard = false) => checked(z.string(), z.minLength(1), z.maxLength(253), siteName(wildcard));
const allowedDomains = () => checked(z.array(domainName(true)), z.maxLength(100));
/** An address of the web; `""` only where that means something. */
const webAddress = (empty: "" | undefined) =>
  checked(
    z.string(),
    z.maxLength(2048),
    rule(
      (address) => address === empty || (URL.canParse(address) && /^https?:/i.test(address)),
      "expected an address that begins with http:// or https://",
      { keywords: { pattern: `^${empty === "" ? "(?:$|" : "(?:"}[Hh][Tt][Tt][Pp][Ss]?://[^\\s])` } },
    ),
  );

/** A proxy of the project, by id or by name. */
export interface ProxyRef extends z.input<typeof ProxyRef> {}
export const ProxyRef = z.lazy(() =>
  checked(
    z.object({
      /** The proxy's id; pass either this or `name`. */
      id: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
      /** Name of exactly one proxy of the project; pass either this or `id`. */
      name: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
    }),
    exactlyOne("id", "name"),
  ),
);

const credentialFields = () => ({
  /** Name of a stored credential. */
  name: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
  /** Name of a credential provider; it needs `path` or `auto`. */
  provider: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
  /** With `provider`: the item, `Vault/Item`. */
  path: z.optional(checked(z.string(), z.minLength(1), z.maxLength(1024))),
  /** With `provider`: `true` looks for an item by the connection's domain. */
  auto: z.optional(z.boolean()),
});
/** The credential that a connection signs in with: `{ name }`, `{ provider, path }` or `{ provider, auto: true }`. */
export interface CredentialRef extends z.input<typeof CredentialRef> {}
export const CredentialRef = z.lazy(() =>
  checked(
    z.object(credentialFields()),
    exactlyOne("name", "provider"),
    rule(
      ({ auto, path, provider }) =>
        Number(path !== undefined) + Number(auto === true) === Number(provider !== undefined),
      "provider takes exactly one of path and auto, name neither",
      {
        keywords: {
          if: { required: ["path"] },
          then: { required: ["provider"], properties: { auto: { const: false } } },
          else: {
            if: { required: ["auto"], properties: { auto: { const: true } } },
            then: { required: ["provider"] },
            else: { not: { required: ["provider"] } },
          },
        },
      },
    ),
  ),
);

/** The credential that a connection signs in with. */
export interface ConnectionCredential extends z.output<typeof ConnectionCredential> {}
export const ConnectionCredential = lazyObject(() => ({
  /** Name of a stored credential. */
  name: z.optional(z.string()),
  /** Name of a credential provider. */
  provider: z.optional(z.string()),
  /** The provider's item, `Vault/Item`. */
  path: z.optional(z.string()),
  /** Whether the provider's item is found by the connection's domain. */
  auto: z.optional(z.boolean()),
}));

/** How the browser sessions of a connection are to start. */
export interface ManagedAuthBrowserConfig extends z.input<typeof ManagedAuthBrowserConfig> {}
export const ManagedAuthBrowserConfig = lazyObject(() => ({
  /** Its proxy. */
  proxy: z.optional(BrowserProxyConfig),
  /** Whether it hides that a program drives it; it does when this is absent. */
  stealth: z.optional(z.boolean()),
  /** Its telemetry settings; `null` or absent = off. */
  telemetry: z.optional(z.nullable(BrowserTelemetryRequest)),
  /** Where it runs. Only if all servers are in this region: logins and checks run on any of them. Else it answers 501. */
  region: z.optional(BrowserRegionName),
}));

/** How the browser sessions of a connection start. */
export interface ConnectionBrowser extends z.output<typeof ConnectionBrowser> {}
export const ConnectionBrowser = lazyObject(() => ({
  /** Its proxy. */
  proxy: z.optional(BrowserProxy),
  /** Whether it hides that a program drives it; it does when this is absent. */
  stealth: z.optional(z.boolean()),
  /** Its telemetry settings. */
  telemetry: z.optional(z.nullable(BrowserTelemetryRequest)),
}));

const latestLogin = () => ({
  /** Progress of the latest login; `null` before the first one. */
  flow_status: z.optional(z.nullable(openEnum(...flowStatuses))),
  /** Step of the latest login; `null` before the first one. */
  flow_step: z.optional(z.nullable(openEnum(...flowSteps))),
  /** Whether a person or the service started the latest login; `null` before the first one. */
  flow_type: z.optional(z.nullable(openEnum("LOGIN", "REAUTH"))),
  /** When the running login expires. Afterwards a new one can start. */
  flow_expires_at: z.optional(z.nullable(Timestamp)),
  /** Identifies the current question of the login. Send it back with your submission. Changes with each question. */
  interaction_id: z.optional(z.string()),
  /** Fields to fill in for the login. */
  fields: z.optional(z.nullable(z.array(AuthField))),
  /** Choices that the login offers. */
  choices: z.optional(z.nullable(z.array(AuthChoice))),
  /** Fields to fill in for the login. For older clients; prefer `fields`. */
  discovered_fields: z.optional(z.nullable(z.array(DiscoveredField))),
  /** Second factors to choose from, for older clients; prefer `choices`. */
  mfa_options: z.optional(z.nullable(z.array(MfaOption))),
  /** Accounts to choose from, for older clients; prefer `choices`. */
  sign_in_options: z.optional(z.nullable(z.array(SignInOption))),
  /** Providers to choose from, for older clients; prefer `choices`. */
  pending_sso_buttons: z.optional(z.nullable(z.array(SsoButton))),
  /** What a person has to do elsewhere, on a phone for instance, while the step is `AWAITING_EXTERNAL_ACTION`. */
  external_action_message: z.optional(z.nullable(z.string())),
  /** The error that the site shows. */
  website_error: z.optional(z.nullable(z.string())),
  /** Provider that the login started with. */
  sso_provider: z.optional(z.nullable(z.string())),
  /** The reason of the failure, for people. */
  error_message: z.optional(z.nullable(z.string())),
  /** Why the login failed, for programs: `credentials_invalid`, `bot_detected`, `captcha_blocked`, `unsupported_auth_method`, … */
  error_code: z.optional(z.nullable(z.string())),
  /** Page on which a person completes the login. */
  hosted_url: z.optional(z.nullable(z.string())),
  /** Page that shows the login's browser live. */
  live_view_url: z.optional(z.nullable(z.string())),
  /** The browser session that signs in. */
  browser_session_id: z.optional(z.nullable(z.string())),
});

/** A profile's login to a site, kept alive by the service. */
export interface AuthConnection extends z.output<typeof AuthConnection> {}
export const AuthConnection = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** The profile with the login. */
  profile_name: z.string(),
  /** The site: `example.com`. */
  domain: z.string(),
  /** Whether the profile is signed in, as far as the last check or login knows. */
  status: openEnum("AUTHENTICATED", "NEEDS_AUTH"),
  /** Time of the last check, successful or not. */
  last_auth_check_at: z.optional(Timestamp),
  /** @deprecated use `last_auth_check_at`. */
  // oxlint-disable-next-line typescript/no-deprecated -- a declaration is not a use
  last_auth_at: z.optional(Timestamp),
  /** Its credentials. */
  credential: z.optional(ConnectionCredential),
  /** Whether it can sign in again without a person. Needs a successful login and a credential with all required values. */
  can_reauth: z.optional(z.boolean()),
  /** Why it can or cannot. */
  can_reauth_reason: z.optional(
    openEnum(
      "external_credential",
      "cua_has_credential",
      "has_credential",
      "viable_plans_found",
      "no_requirements_recorded",
      "requirements_satisfiable",
      "no_prior_successful_login",
      "no_credential",
      "no_viable_plans",
      "viable_plans_require_external_action",
      "requires_external_action",
      "requires_totp_without_secret",
      "requires_sms_code",
      "requires_email_code",
      "requires_customer_input",
    ),
  ),
  /** The proxy that its browser uses. */
  proxy_id: z.optional(z.string()),
  /** Further domains that a login may lead to, in addition to `domain` and well-known identity providers. */
  allowed_domains: z.optional(z.array(z.string())),
  /** Where the login form is; without it the form is looked for. */
  login_url: z.optional(z.string()),
  /** Where the browser was after the last login that succeeded. */
  post_login_url: z.optional(z.string()),
  ...latestLogin(),
  /** Seconds between two checks. */
  health_check_interval: z.optional(z.nullable(z.int())),
  /** Whether the service regularly checks that the profile is still signed in. */
  health_checks: z.optional(z.boolean()),
  /** Whether the service signs in again when a check finds the profile signed out. No effect while `health_checks` is off. */
  auto_reauth: z.optional(z.boolean()),
  /** Whether values that a person enters are stored as the connection's credential. One-time codes are never stored. */
  save_credentials: z.boolean(),
  /** Whether logins are recorded as replays. */
  record_session: z.boolean(),
  /** Telemetry settings of its browser sessions. */
  browser_telemetry: z.optional(z.nullable(BrowserTelemetryRequest)),
  /** How its browser sessions start. */
  browser: z.optional(ConnectionBrowser),
}));

/** Input of `auth.connections.create`. */
export interface CreateAuthConnection extends z.input<typeof CreateAuthConnection> {}
export const CreateAuthConnection = z.lazy(() =>
  checked(
    z.object({
      /** The site, 1 to 253 characters: `example.com`. */
      domain: domainName(),
      /** The profile that stores the login. Created if it does not exist. */
      profile_name: DisplayName,
      /** Where the login form is; without it the form is looked for. */
      login_url: z.optional(webAddress(undefined)),
      /** Credentials to sign in with. Without it, a person is asked. */
      credential: z.optional(CredentialRef),
      /** The proxy that its browser uses. */
      proxy: z.optional(ProxyRef),
      /** Further domains that a login may lead to, at most 100, in addition to `domain` and well-known identity providers. */
      allowed_domains: z.optional(allowedDomains()),
      /** Seconds between two checks, from the limit of the service (300 unless configured) to 86400; 3600 when absent. */
      health_check_interval: z.optional(healthCheckInterval()),
      /** Check regularly that the profile is still signed in. */
      health_checks: z._default(z.boolean(), true),
      /** Sign in again without a person when a check finds the profile signed out; without effect while `health_checks` is off. */
      auto_reauth: z._default(z.boolean(), true),
      /** Store values that a person enters as the connection's credential, except one-time codes. */
      save_credentials: z._default(z.boolean(), true),
      /** Record logins as replays. */
      record_session: z._default(z.boolean(), false),
      /** Telemetry settings of its browser sessions; `null` or absent = off. */
      browser_telemetry: z.optional(z.nullable(BrowserTelemetryRequest)),
      /** How its browser sessions start. Takes the place of `proxy` and `browser_telemetry`. */
      browser: z.optional(ManagedAuthBrowserConfig),
    }),
    saidOnce(),
  ),
);

/** Input of `auth.connections.update`; absent fields stay unchanged. */
export interface UpdateAuthConnection extends z.input<typeof UpdateAuthConnection> {}
export const UpdateAuthConnection = z.lazy(() =>
  checked(
    z.object({
      /** Where the login form is; an empty text = look for it. */
      login_url: z.optional(webAddress("")),
      /** New credentials to sign in with. */
      credential: z.optional(CredentialRef),
      /** The proxy that its browser uses from now on. */
      proxy: z.optional(ProxyRef),
      /** The whole new list of domains, up to 100, that a login may lead to. */
      allowed_domains: z.optional(allowedDomains()),
      /** Seconds between two checks, from the limit of the service (300 unless configured) to 86400. */
      health_check_interval: z.optional(healthCheckInterval()),
      /** Check regularly that the profile is still signed in. */
      health_checks: z.optional(z.boolean()),
      /** Sign in again without a person when a check finds the profile signed out. */
      auto_reauth: z.optional(z.boolean()),
      /** Store values that a person enters as the connection's credential. */
      save_credentials: z.optional(z.boolean()),
      /** Record logins as replays. */
      record_session: z.optional(z.boolean()),
      /** Telemetry settings of its browser sessions; `enabled: false` = off. */
      browser_telemetry: z.optional(z.nullable(BrowserTelemetryRequest)),
      /** How its browser sessions start from now on. Takes the place of `proxy` and `browser_telemetry`. */
      browser: z.optional(ManagedAuthBrowserConfig),
    }),
    saidOnce(),
  ),
);

/** Input of `auth.connections.list`. */
export interface ListAuthConnections extends z.input<typeof ListAuthConnections> {}
export const ListAuthConnections = lazyObject(() => ({
  ...pageFields,
  /** Only connections of this profile. */
  profile_name: z.optional(z.string()),
  /** Only connections to this site. */
  domain: z.optional(z.string()),
  /** Part of a domain or of a profile's name, case does not matter, or a whole id. */
  query: z.optional(z.string()),
}));

/** The profile has a connection to the site already. */
export interface ConnectionExistsError extends z.output<typeof ConnectionExistsError> {}
export const ConnectionExistsError = lazyObject(() => ({
  /** `conflict` */
  code: z.string(),
  /** For people: the existing connection and the next step. */
  message: z.string(),
  /** The connection that the profile has to this site already. */
  existing_id: z.string(),
}));
