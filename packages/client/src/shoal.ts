import { createTransport, type Transport, type TransportOptions } from "@shoal/transport";
import { ApiKeys } from "./organization/api-keys.ts";
import { Browsers } from "./browsers/browsers.ts";
import { Profiles } from "./resources/profiles.ts";
import { Apps } from "./deployments/apps.ts";
import { Deployments } from "./deployments/deployments.ts";
import { Invocations } from "./deployments/invocations.ts";
import { Schedules } from "./deployments/schedules.ts";
import { Credentials } from "./auth/credentials.ts";
import { CredentialProviders } from "./auth/credential-providers.ts";
import { Vaults } from "./auth/vaults.ts";
import { Auth } from "./auth/auth.ts";
import { BrowserPools } from "./browsers/browser-pools.ts";
import { Flows } from "./resources/flows.ts";
import { NetworkRecordings } from "./resources/network-recordings.ts";
import { WebSearch } from "./resources/search.ts";
import { Snapshots } from "./resources/snapshots.ts";
import { Proxies } from "./resources/proxies.ts";
import { Extensions } from "./resources/extensions.ts";
import { Projects } from "./organization/projects.ts";
import { BotIdentityResource } from "./organization/bot-identity.ts";
import { EvidenceKeyResource } from "./organization/evidence-key.ts";
import { Organization } from "./organization/organization.ts";
import { AuditLogs } from "./organization/audit-logs.ts";
import { Usage } from "./organization/usage.ts";
import { Telemetry } from "./resources/telemetry.ts";
import { Webhooks } from "./resources/webhooks.ts";
import { Service } from "./service.ts";
import { routedTransport, SessionRoutes } from "./browsers/session-routes.ts";

export type * from "./organization/api-keys.ts";
export type * from "./browsers/browsers.ts";
export type * from "./resources/profiles.ts";
export type * from "./deployments/apps.ts";
export type * from "./deployments/deployments.ts";
export type * from "./deployments/invocations.ts";
export type * from "./deployments/schedules.ts";
export type * from "./auth/credentials.ts";
export type * from "./auth/credential-providers.ts";
export type * from "./auth/vaults.ts";
export type * from "./auth/auth.ts";
export type * from "./browsers/browser-pools.ts";
export type * from "./resources/flows.ts";
export type * from "./resources/network-recordings.ts";
export type * from "./resources/snapshots.ts";
export type * from "./resources/proxies.ts";
export type * from "./resources/extensions.ts";
export type * from "./organization/projects.ts";
export type * from "./organization/bot-identity.ts";
export type * from "./organization/evidence-key.ts";
export type * from "./organization/organization.ts";
export type * from "./organization/audit-logs.ts";
export type * from "./organization/usage.ts";
export type * from "./resources/telemetry.ts";
export type * from "./resources/webhooks.ts";
export type * from "./service.ts";

/** Defaults come from the environment. */
export interface ShoalOptions extends Omit<TransportOptions, "baseUrl" | "apiKey"> {
  /** Default `SHOAL_API_KEY`. `null` sends no key: for pages of the service, whose requests carry a session cookie. */
  readonly apiKey?: string | null | undefined;
  /** URL of the service. Default `SHOAL_BASE_URL`, else http://127.0.0.1:7777. */
  readonly baseUrl?: string | URL | undefined;
  /** Id or name, for all calls. Default `SHOAL_PROJECT`. */
  readonly project?: string | undefined;
  /**
   * Sends files, telemetry streams and requests through a browser directly to the session's `base_url`, if `browsers.create`, `get` or
   * `list` returned one. Falls back to the service when the instance cannot be reached. Default `true`.
   */
  readonly direct?: boolean | undefined;
}

/** `undefined` for an empty variable, and in browsers. */
function variable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const value = process?.env?.[name]?.trim();
  return value === "" ? undefined : value;
}

/**
 * A client of a Shoal service.
 *
 * @example
 * const shoal = new Shoal(); // SHOAL_API_KEY, SHOAL_BASE_URL
 * await using browser = await shoal.browsers.create();
 */
export class Shoal {
  readonly browsers: Browsers;
  readonly profiles: Profiles;
  readonly apiKeys: ApiKeys;
  readonly apps: Apps;
  readonly deployments: Deployments;
  readonly invocations: Invocations;
  readonly schedules: Schedules;
  readonly credentials: Credentials;
  readonly credentialProviders: CredentialProviders;
  readonly vaults: Vaults;
  readonly auth: Auth;
  readonly browserPools: BrowserPools;
  readonly flows: Flows;
  readonly networkRecordings: NetworkRecordings;
  readonly search: WebSearch;
  readonly snapshots: Snapshots;
  readonly proxies: Proxies;
  readonly extensions: Extensions;
  readonly projects: Projects;
  /** The key with which sessions sign requests. */
  readonly botIdentity: BotIdentityResource;
  readonly evidenceKey: EvidenceKeyResource;
  readonly organization: Organization;
  readonly auditLogs: AuditLogs;
  readonly usage: Usage;
  readonly telemetry: Telemetry;
  readonly webhooks: Webhooks;
  /** Health of the service; needs no key. */
  readonly service: Service;
  /** Calls any endpoint, also your own: `shoal.transport.call(myEndpoint, …)`. */
  readonly transport: Transport;

  /** @throws {TypeError} without a key, or for an invalid `baseUrl`. */
  constructor(options: ShoalOptions = {}) {
    const apiKey = options.apiKey === undefined ? variable("SHOAL_API_KEY") : options.apiKey;
    if (apiKey === undefined) {
      throw new TypeError(
        "The API key is missing: set SHOAL_API_KEY or pass apiKey to new Shoal(). `shoal api-keys create` creates one.",
      );
    }
    const { direct = true, ...others } = options;
    const settings: TransportOptions = {
      ...others,
      apiKey: apiKey ?? undefined,
      baseUrl: options.baseUrl ?? variable("SHOAL_BASE_URL") ?? "http://127.0.0.1:7777",
      project: options.project ?? variable("SHOAL_PROJECT"),
    };
    const service = createTransport(settings);
    const routes = direct ? new SessionRoutes(settings) : undefined;
    this.transport = routes === undefined ? service : routedTransport(service, routes);
    this.browsers = new Browsers(this.transport, {
      routes,
      fetch: options.fetch,
      listening: (hooks) => createTransport({ ...settings, hooks: [settings.hooks ?? [], hooks].flat() }),
    });
    this.profiles = new Profiles(this.transport);
    this.apiKeys = new ApiKeys(this.transport);
    this.apps = new Apps(this.transport);
    this.deployments = new Deployments(this.transport);
    this.invocations = new Invocations(this.transport);
    this.schedules = new Schedules(this.transport);
    this.credentials = new Credentials(this.transport);
    this.credentialProviders = new CredentialProviders(this.transport);
    this.vaults = new Vaults(this.transport);
    this.auth = new Auth(this.transport);
    this.browserPools = new BrowserPools(this.transport, this.browsers);
    this.flows = new Flows(this.transport);
    this.networkRecordings = new NetworkRecordings(this.transport);
    this.search = new WebSearch(this.transport);
    this.snapshots = new Snapshots(this.transport);
    this.proxies = new Proxies(this.transport);
    this.extensions = new Extensions(this.transport);
    this.projects = new Projects(this.transport);
    this.botIdentity = new BotIdentityResource(this.transport);
    this.evidenceKey = new EvidenceKeyResource(this.transport);
    this.organization = new Organization(this.transport);
    this.auditLogs = new AuditLogs(this.transport);
    this.usage = new Usage(this.transport);
    this.telemetry = new Telemetry(this.transport);
    this.webhooks = new Webhooks(this.transport);
    this.service = new Service(this.transport);
  }
}
