import * as z from "zod/mini";
import { BrowserTelemetryRequest } from "./browser.ts";
import { BrowserProxyConfig, BrowserProxyShape } from "./browser-network.ts";
import { DisplayName, pageFields, Timestamp } from "./common.ts";
import { AuthChoice, AuthField, DiscoveredField, MfaOption, SignInOption, SsoButton } from "./managed-auth-flow.ts";
import { checked, lazyObject, openEnum, type Schema } from "./schema.ts";

const healthCheckInterval = () => checked(z.int(), z.minimum(300), z.maximum(86_400));
const domainName = () => checked(z.string(), z.minLength(1), z.maxLength(253));
const allowedDomains = () => checked(z.array(domainName()), z.maxLength(100));
/** An address of the web; `""` only where that means something. */
const webAddress = (empty: "" | undefined) =>
  checked(
    z.string(),
    z.maxLength(2048),
    z.refine(
      (address) => address === empty || (URL.canParse(address) && /^https?:/i.test(address)),
      "expected an address that begins with http:// or https://",
    ),
  );

/** How far a login is. */
export const flowStatuses = ["IN_PROGRESS", "SUCCESS", "FAILED", "EXPIRED", "CANCELED"] as const;
/** What a login that goes on is doing. */
export const flowSteps = ["DISCOVERING", "AWAITING_INPUT", "AWAITING_EXTERNAL_ACTION", "SUBMITTING", "COMPLETED"] as const;

export const ProxyRefShape = z.lazy(() =>
  checked(
    z.object({
      /** The proxy's id; give this or `name`. */
      id: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
      /** Name of exactly one proxy of the project; give this or `id`. */
      name: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
    }),
    z.refine((proxy) => (proxy.id === undefined) !== (proxy.name === undefined), "give exactly one of id and name"),
  ),
);
/** A proxy of the project, by id or by name. */
export interface ProxyRef extends z.input<typeof ProxyRefShape> {}
export const ProxyRef: Schema<ProxyRef> = ProxyRefShape;

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
export const CredentialRefShape = z.lazy(() =>
  checked(
    z.object(credentialFields()),
    z.refine(({ name, provider }) => (name === undefined) !== (provider === undefined), "give exactly one of name and provider"),
    z.refine(
      ({ auto, path, provider }) => (provider !== undefined) === ((path !== undefined) !== (auto === true)),
      "provider takes exactly one of path and auto, name neither",
    ),
  ),
);
/** The credential that a connection signs in with: `{ name }`, `{ provider, path }` or `{ provider, auto: true }`. */
export interface CredentialRef extends z.input<typeof CredentialRefShape> {}
export const CredentialRef: Schema<CredentialRef> = CredentialRefShape;

export const ConnectionCredentialShape = lazyObject(() => ({
  /** Name of a stored credential. */
  name: z.optional(z.string()),
  /** Name of a credential provider. */
  provider: z.optional(z.string()),
  /** The provider's item, `Vault/Item`. */
  path: z.optional(z.string()),
  /** Whether the provider's item is found by the connection's domain. */
  auto: z.optional(z.boolean()),
}));
/** The credential that a connection signs in with. */
export interface ConnectionCredential extends z.output<typeof ConnectionCredentialShape> {}
export const ConnectionCredential: Schema<ConnectionCredential> = ConnectionCredentialShape;

export const ManagedAuthBrowserConfigShape = lazyObject(() => ({
  /** What its traffic leaves by. */
  proxy: z.optional(BrowserProxyConfig),
  /** Whether it hides that a program drives it; it does when this is absent. */
  stealth: z.optional(z.boolean()),
  /** What its telemetry captures; `null` or absent = nothing. */
  telemetry: z.optional(z.nullable(BrowserTelemetryRequest)),
}));
/** How the browser sessions of a connection are to start. */
export interface ManagedAuthBrowserConfig extends z.input<typeof ManagedAuthBrowserConfigShape> {}
export const ManagedAuthBrowserConfig: Schema<
  z.output<typeof ManagedAuthBrowserConfigShape>,
  ManagedAuthBrowserConfig
> = ManagedAuthBrowserConfigShape;

export const ConnectionBrowserShape = lazyObject(() => ({
  /** What its traffic leaves by. */
  proxy: z.optional(BrowserProxyShape),
  /** Whether it hides that a program drives it; it does when this is absent. */
  stealth: z.optional(z.boolean()),
  /** What its telemetry captures. */
  telemetry: z.optional(z.nullable(BrowserTelemetryRequest)),
}));
/** How the browser sessions of a connection start. */
export interface ConnectionBrowser extends z.output<typeof ConnectionBrowserShape> {}
export const ConnectionBrowser: Schema<ConnectionBrowser> = ConnectionBrowserShape;

interface SaidTwice {
  browser?: { proxy?: unknown; telemetry?: unknown } | undefined;
  proxy?: unknown;
  browser_telemetry?: unknown;
}
/** `browser` says what older clients say beside it. */
export const saidOnce = <Value extends SaidTwice>() =>
  z.refine<Value>(
    ({ browser, browser_telemetry, proxy }) =>
      (browser?.proxy === undefined || proxy === undefined) && (browser?.telemetry === undefined || browser_telemetry === undefined),
    "browser.proxy and browser.telemetry take the place of proxy and browser_telemetry: give one of each",
  );

export const AuthConnectionShape = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** The profile that holds the login. */
  profile_name: z.string(),
  /** The site: `example.com`. */
  domain: z.string(),
  /** Whether the profile is signed in, as far as the last check or login knows. */
  status: openEnum("AUTHENTICATED", "NEEDS_AUTH"),
  /** When that was last looked at, whatever was found. */
  last_auth_check_at: z.optional(Timestamp),
  /** @deprecated `last_auth_check_at` says the same. */
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- declaring it is no use of it
  last_auth_at: z.optional(Timestamp),
  /** What it signs in with. */
  credential: z.optional(ConnectionCredential),
  /** Whether it can sign in again without a person; needs a login that succeeded and a credential that covers what was asked for. */
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
  /** Domains that a login may lead to beside `domain` and those of well-known identity providers. */
  allowed_domains: z.optional(z.array(z.string())),
  /** Where the login form is; without it the form is looked for. */
  login_url: z.optional(z.string()),
  /** Where the browser was after the last login that succeeded. */
  post_login_url: z.optional(z.string()),
  /** How far the login is; `null` while there is none. */
  flow_status: z.optional(z.nullable(openEnum(...flowStatuses))),
  /** What the login is doing; `null` while there is none. */
  flow_step: z.optional(z.nullable(openEnum(...flowSteps))),
  /** Whether a person began the login, or the service did; `null` while there is none. */
  flow_type: z.optional(z.nullable(openEnum("LOGIN", "REAUTH"))),
  /** When the login is given up. A new one may begin then. */
  flow_expires_at: z.optional(z.nullable(Timestamp)),
  /** Names what the login waits for now; give it back when you submit. Another one each time it stops. */
  interaction_id: z.optional(z.string()),
  /** What the login wants to be told. */
  fields: z.optional(z.nullable(z.array(AuthField))),
  /** What the login wants to be chosen. */
  choices: z.optional(z.nullable(z.array(AuthChoice))),
  /** What the login wants to be told, for older clients; prefer `fields`. */
  discovered_fields: z.optional(z.nullable(z.array(DiscoveredField))),
  /** Second factors to choose from, for older clients; prefer `choices`. */
  mfa_options: z.optional(z.nullable(z.array(MfaOption))),
  /** Accounts to choose from, for older clients; prefer `choices`. */
  sign_in_options: z.optional(z.nullable(z.array(SignInOption))),
  /** Providers to choose from, for older clients; prefer `choices`. */
  pending_sso_buttons: z.optional(z.nullable(z.array(SsoButton))),
  /** What a person has to do elsewhere, on a phone for instance, while the step is `AWAITING_EXTERNAL_ACTION`. */
  external_action_message: z.optional(z.nullable(z.string())),
  /** What the site says went wrong. */
  website_error: z.optional(z.nullable(z.string())),
  /** Whose button the login began with. */
  sso_provider: z.optional(z.nullable(z.string())),
  /** Why the login failed, for people. */
  error_message: z.optional(z.nullable(z.string())),
  /** Why the login failed, for programs: `credentials_invalid`, `bot_detected`, `captcha_blocked`, `unsupported_auth_method`, … */
  error_code: z.optional(z.nullable(z.string())),
  /** Page on which a person completes the login. */
  hosted_url: z.optional(z.nullable(z.string())),
  /** Page that shows the login's browser live. */
  live_view_url: z.optional(z.nullable(z.string())),
  /** The browser session that signs in. */
  browser_session_id: z.optional(z.nullable(z.string())),
  /** Seconds between two checks. */
  health_check_interval: z.optional(z.nullable(z.int())),
  /** Whether the service looks from time to time if the profile is still signed in. */
  health_checks: z.optional(z.boolean()),
  /** Whether the service signs in again by itself when a check finds the profile signed out; without effect while `health_checks` is off. */
  auto_reauth: z.optional(z.boolean()),
  /** Whether what a person enters is stored as the connection's credential. One-time codes never are. */
  save_credentials: z.boolean(),
  /** Whether logins are recorded as replays. */
  record_session: z.boolean(),
  /** What telemetry of its browser sessions captures. */
  browser_telemetry: z.optional(z.nullable(BrowserTelemetryRequest)),
  /** How its browser sessions start. */
  browser: z.optional(ConnectionBrowser),
}));
/** A profile's login to a site, kept alive by the service. */
export interface AuthConnection extends z.output<typeof AuthConnectionShape> {}
export const AuthConnection: Schema<AuthConnection> = AuthConnectionShape;

export const CreateAuthConnectionShape = z.lazy(() =>
  checked(
    z.object({
      /** The site, 1 to 253 characters: `example.com`. */
      domain: domainName(),
      /** The profile that holds the login; it is made when there is none of this name. */
      profile_name: DisplayName,
      /** Where the login form is; without it the form is looked for. */
      login_url: z.optional(webAddress(undefined)),
      /** What to sign in with; without it a person is asked. */
      credential: z.optional(CredentialRef),
      /** The proxy that its browser uses. */
      proxy: z.optional(ProxyRef),
      /** Domains, up to 100, that a login may lead to beside `domain` and those of well-known identity providers. */
      allowed_domains: z.optional(allowedDomains()),
      /** Seconds between two checks, 300 to 86400; 3600 when absent. */
      health_check_interval: z.optional(healthCheckInterval()),
      /** Look from time to time if the profile is still signed in. */
      health_checks: z._default(z.boolean(), true),
      /** Sign in again without a person when a check finds the profile signed out; without effect while `health_checks` is off. */
      auto_reauth: z._default(z.boolean(), true),
      /** Store what a person enters as the connection's credential, but for one-time codes. */
      save_credentials: z._default(z.boolean(), true),
      /** Record logins as replays. */
      record_session: z._default(z.boolean(), false),
      /** What telemetry of its browser sessions captures; `null` or absent = nothing. */
      browser_telemetry: z.optional(z.nullable(BrowserTelemetryRequest)),
      /** How its browser sessions start. Takes the place of `proxy` and `browser_telemetry`. */
      browser: z.optional(ManagedAuthBrowserConfig),
    }),
    saidOnce(),
  ),
);
/** What `auth.connections.create` takes. */
export interface CreateAuthConnection extends z.input<typeof CreateAuthConnectionShape> {}
export const CreateAuthConnection: Schema<z.output<typeof CreateAuthConnectionShape>, CreateAuthConnection> = CreateAuthConnectionShape;

export const UpdateAuthConnectionShape = z.lazy(() =>
  checked(
    z.object({
      /** Where the login form is; an empty text = look for it. */
      login_url: z.optional(webAddress("")),
      /** What to sign in with from now on. */
      credential: z.optional(CredentialRef),
      /** The proxy that its browser uses from now on. */
      proxy: z.optional(ProxyRef),
      /** The whole new list of domains, up to 100, that a login may lead to. */
      allowed_domains: z.optional(allowedDomains()),
      /** Seconds between two checks, 300 to 86400. */
      health_check_interval: z.optional(healthCheckInterval()),
      /** Look from time to time if the profile is still signed in. */
      health_checks: z.optional(z.boolean()),
      /** Sign in again without a person when a check finds the profile signed out. */
      auto_reauth: z.optional(z.boolean()),
      /** Store what a person enters as the connection's credential. */
      save_credentials: z.optional(z.boolean()),
      /** Record logins as replays. */
      record_session: z.optional(z.boolean()),
      /** What telemetry of its browser sessions captures; `enabled: false` = nothing. */
      browser_telemetry: z.optional(z.nullable(BrowserTelemetryRequest)),
      /** How its browser sessions start from now on. Takes the place of `proxy` and `browser_telemetry`. */
      browser: z.optional(ManagedAuthBrowserConfig),
    }),
    saidOnce(),
  ),
);
/** What `auth.connections.update` takes; fields that are absent stay as they are. */
export interface UpdateAuthConnection extends z.input<typeof UpdateAuthConnectionShape> {}
export const UpdateAuthConnection: Schema<z.output<typeof UpdateAuthConnectionShape>, UpdateAuthConnection> = UpdateAuthConnectionShape;

export const ListAuthConnectionsShape = lazyObject(() => ({
  ...pageFields,
  /** Those of this profile only. */
  profile_name: z.optional(z.string()),
  /** Those to this site only. */
  domain: z.optional(z.string()),
  /** Part of a domain or of a profile's name, case does not matter, or a whole id. */
  query: z.optional(z.string()),
}));
/** What `auth.connections.list` takes. */
export interface ListAuthConnections extends z.input<typeof ListAuthConnectionsShape> {}
export const ListAuthConnections: Schema<z.output<typeof ListAuthConnectionsShape>, ListAuthConnections> = ListAuthConnectionsShape;

export const ConnectionExistsErrorShape = lazyObject(() => ({
  /** `conflict` */
  code: z.string(),
  /** For people: which connection exists, and what to do. */
  message: z.string(),
  /** The connection that the profile has to this site already. */
  existing_id: z.string(),
}));
/** The profile has a connection to the site already. */
export interface ConnectionExistsError extends z.output<typeof ConnectionExistsErrorShape> {}
export const ConnectionExistsError: Schema<ConnectionExistsError> = ConnectionExistsErrorShape;
