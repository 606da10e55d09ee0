import type { Database } from "@shoal/database";
import { createOutboundRule, type OutboundRule } from "@shoal/placement";
import { StartError } from "../config/start-error.ts";
import type { Config } from "../config/settings.ts";
import type { KeyAuthenticator, KeyRow } from "../http/auth/access.ts";
import type { OwnRequests } from "../http/auth/own-requests.ts";
import type { ProjectLookup } from "../http/auth/project-lookup.ts";
import type { RequestOrigins } from "../http/request-origin.ts";
import type { Log } from "../log/log.ts";
import type { ReadCache } from "../storage/read-cache.ts";
import type { Secrets } from "../storage/secrets.ts";
import { ConsoleAuthenticator } from "./console-authenticator.ts";
import { ConsoleLinks } from "./console-links.ts";
import { ConsoleSessions } from "./console-sessions.ts";
import { AccessTokens } from "./oidc/access-tokens.ts";
import { createGuardedFetch } from "./oidc/guarded-fetch.ts";
import { OidcClient, type OidcSettings } from "./oidc/oidc-client.ts";
import { PersonChecks } from "./oidc/person-checks.ts";
import type { People } from "./people.ts";
import type { ConsoleParts } from "./serve-console.ts";

export interface OpenConsole extends ConsoleParts {
  /** Deletes ended sessions and unused links. */
  sweep(): Promise<void>;
}

export interface OpenConsoleParts {
  readonly config: Config;
  readonly database: Database;
  readonly keyed: KeyAuthenticator;
  readonly keysById: Pick<ReadCache<KeyRow>, "get">;
  readonly log: Log;
  readonly origins: RequestOrigins;
  /** Addresses of the other servers. */
  readonly otherServers: () => Iterable<string>;
  readonly ownRequests: Pick<OwnRequests, "read">;
  readonly people: People;
  readonly projects: ProjectLookup;
  readonly secrets: Secrets;
}

export function openConsole(parts: OpenConsoleParts): OpenConsole {
  const sessions = new ConsoleSessions(parts.database);
  const links = new ConsoleLinks(parts.database);
  const settings = oidcSettings(parts.config);
  const fetch = createGuardedFetch(providerRule(parts));
  const client = settings && new OidcClient(settings, fetch);
  const checkMs = parts.config.oidc_check_minutes * 60_000;
  const checks = client && new PersonChecks({ ...parts, sessions, client, checkMs });
  const tokens = client && new AccessTokens({ ...parts, client, fetch, roleRules: parts.config.oidc_roles });
  return {
    ...parts,
    publicUrl: parts.config.public_url,
    authenticator: new ConsoleAuthenticator({ ...parts, checks, sessions, tokens }),
    checks,
    links,
    sessions,
    async sweep() {
      await sessions.sweep(Date.now());
      await links.sweep(Date.now());
    },
  };
}

/** The operator names the issuer, but the issuer names its other addresses. */
function providerRule({ config, otherServers }: OpenConsoleParts): OutboundRule {
  const allowed = config.oidc_issuer === undefined ? [] : [hostAndPort(new URL(config.oidc_issuer))];
  return createOutboundRule({ allowPrivateHosts: [...config.allow_private_hosts, ...allowed], otherServers });
}

function hostAndPort({ hostname, port, protocol }: URL): string {
  const usual = protocol === "http:" ? "80" : "443";
  return `${hostname}:${port === "" ? usual : port}`;
}

/** @throws {StartError} for incomplete settings. */
function oidcSettings(config: Config): OidcSettings | undefined {
  const { oidc_client_id, oidc_issuer } = config;
  if (oidc_issuer !== undefined && oidc_client_id !== undefined) return { ...config, oidc_client_id, oidc_issuer };
  if (oidc_issuer === undefined && oidc_client_id === undefined) return undefined;
  throw new StartError("oidc_issuer and oidc_client_id must be set together.", {
    hint: "Register the service at the provider, with the redirect URI PUBLIC_URL/console/oidc/callback.",
    exitCode: 2,
  });
}
