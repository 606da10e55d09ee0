import { createTransport, type Transport, type TransportOptions } from "@shoal/transport";
import { ApiKeys } from "./api-keys.ts";
import { Browsers } from "./browsers.ts";
import { Profiles } from "./profiles.ts";
import { Apps } from "./apps.ts";
import { Deployments } from "./deployments.ts";
import { Invocations } from "./invocations.ts";
import { Credentials } from "./credentials.ts";
import { CredentialProviders } from "./credential-providers.ts";
import { Auth } from "./auth.ts";
import { BrowserPools } from "./browser-pools.ts";
import { Proxies } from "./proxies.ts";
import { Extensions } from "./extensions.ts";
import { Projects } from "./projects.ts";
import { Organization } from "./organization.ts";
import { AuditLogs } from "./audit-logs.ts";
import { Telemetry } from "./telemetry.ts";
import { Service } from "./service.ts";
import { routedTransport, SessionRoutes } from "./session-routes.ts";

/** How a {@link Shoal} differs from what the environment says. */
export interface ShoalOptions extends Omit<TransportOptions, "baseUrl" | "apiKey"> {
  /** The key; `SHOAL_API_KEY` when absent. */
  readonly apiKey?: string | undefined;
  /** Address of the service; `SHOAL_BASE_URL`, or else http://127.0.0.1:7777, when absent. */
  readonly baseUrl?: string | URL | undefined;
  /** Id or name of the project that calls are about; `SHOAL_PROJECT` when absent. */
  readonly project?: string | undefined;
  /**
   * Whether files, telemetry streams and requests through a browser go straight to the session's instance (`base_url`) once a session
   * has named it, in `browsers.create`, `get` or `list`; `true` when absent. What cannot be reached there goes through the service.
   */
  readonly direct?: boolean | undefined;
}

/** A variable that is set to something; browsers have none. */
function variable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const value = process?.env?.[name]?.trim();
  return value === "" ? undefined : value;
}

/**
 * A client of one Shoal service.
 *
 * @example
 * const shoal = new Shoal(); // SHOAL_API_KEY, SHOAL_BASE_URL
 * await using browser = await shoal.browsers.create();
 */
export class Shoal {
  /** Browser sessions, and everything in them. */
  readonly browsers: Browsers;
  /** Saved browser state that sessions start from. */
  readonly profiles: Profiles;
  /** Keys that open the service. */
  readonly apiKeys: ApiKeys;
  /** Programs that were deployed. */
  readonly apps: Apps;
  /** Versions of apps. */
  readonly deployments: Deployments;
  /** Runs of an app's actions. */
  readonly invocations: Invocations;
  /** Logins for websites. */
  readonly credentials: Credentials;
  /** Password managers that logins are read from. */
  readonly credentialProviders: CredentialProviders;
  /** Who calls, and what profiles are signed in to. */
  readonly auth: Auth;
  /** Browsers that are kept warm. */
  readonly browserPools: BrowserPools;
  /** Ways into the network. */
  readonly proxies: Proxies;
  /** Chrome extensions that sessions load. */
  readonly extensions: Extensions;
  /** What keeps browsers, profiles and keys apart. */
  readonly projects: Projects;
  /** Limits and abilities of the whole service. */
  readonly organization: Organization;
  /** Who did what, and when. */
  readonly auditLogs: AuditLogs;
  /** Where telemetry is sent to. */
  readonly telemetry: Telemetry;
  /** Whether the service is well; needs no key. */
  readonly service: Service;
  /** Runs any endpoint, those of extensions too: `shoal.transport.call(myEndpoint, …)`. */
  readonly transport: Transport;

  /** @throws {TypeError} without a key, or with a `baseUrl` that is no address. */
  constructor(options: ShoalOptions = {}) {
    const apiKey = options.apiKey ?? variable("SHOAL_API_KEY");
    if (apiKey === undefined) {
      throw new TypeError(
        "An API key is missing: set SHOAL_API_KEY, or pass apiKey to new Shoal(). `shoal serve` prints one at its first start; `shoal api-keys create` makes more.",
      );
    }
    const { direct = true, ...others } = options;
    const settings: TransportOptions = {
      ...others,
      apiKey,
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
    this.credentials = new Credentials(this.transport);
    this.credentialProviders = new CredentialProviders(this.transport);
    this.auth = new Auth(this.transport);
    this.browserPools = new BrowserPools(this.transport, this.browsers);
    this.proxies = new Proxies(this.transport);
    this.extensions = new Extensions(this.transport);
    this.projects = new Projects(this.transport);
    this.organization = new Organization(this.transport);
    this.auditLogs = new AuditLogs(this.transport);
    this.telemetry = new Telemetry(this.transport);
    this.service = new Service(this.transport);
  }
}
