import type { FastifyInstance } from "fastify";
import { StartError } from "../config/start-error.ts";
import type { Config } from "../config/settings.ts";
import type { Entering } from "../host/entering.ts";
import type { Feature } from "../host/feature.ts";
import type { Host } from "../host/host.ts";
import { operatorRule } from "../host/operator-rule.ts";
import type { KeyAuthenticator, KeyRow } from "../http/auth/access.ts";
import type { OwnRequests } from "../http/auth/own-requests.ts";
import type { ProjectLookup } from "../http/auth/project-lookup.ts";
import type { RequestOrigins } from "../http/request-origin.ts";
import type { ReadCache } from "../storage/read-cache.ts";
import { ConsoleAuthenticator } from "./console-authenticator.ts";
import { ConsoleLinks } from "./console-links.ts";
import { ConsoleSessions } from "./console-sessions.ts";
import { AccessTokens } from "./oidc/access-tokens.ts";
import { createGuardedFetch } from "./oidc/guarded-fetch.ts";
import { OidcClient, type OidcSettings } from "./oidc/oidc-client.ts";
import { PersonChecks } from "./oidc/person-checks.ts";
import type { People } from "./people.ts";
import { PageKeys } from "./page-keys.ts";
import { serveConsolePages } from "./pages/serve-pages.ts";
import { serveConsole } from "./serve-console.ts";

interface ConsoleNeeds {
  readonly contentUrl: string | undefined;
  readonly keyed: KeyAuthenticator;
  readonly keysById: Pick<ReadCache<KeyRow>, "get">;
  readonly origins: RequestOrigins;
  readonly ownRequests: Pick<OwnRequests, "read">;
  readonly people: People;
  readonly projects: ProjectLookup;
}

/** The console's pages, and the sign-in of persons. @throws {StartError} for incomplete settings. */
export function consoleFeature({ config, database, log, otherServers, secrets }: Host, needs: ConsoleNeeds) {
  const sessions = new ConsoleSessions(database);
  const links = new ConsoleLinks(database);
  const oidc = oidcSettings(config);
  const fetch = createGuardedFetch(operatorRule({ config, otherServers }, [config.oidc_issuer]));
  const client = oidc && new OidcClient(oidc, fetch);
  const checkMs = config.oidc_check_minutes * 60_000;
  const own = { ...needs, database, log, pageKeys: new PageKeys(secrets), secrets, sessions };
  const checks = client && new PersonChecks({ ...own, client, checkMs });
  const tokens = client && new AccessTokens({ ...own, client, fetch, roleRules: config.oidc_roles });
  const authenticator = new ConsoleAuthenticator({ ...own, checks, tokens });
  return {
    provides: authenticator,
    serve(app: FastifyInstance, entering: Entering) {
      serveConsolePages(app, needs);
      serveConsole(app, { ...own, authenticator, checks, links, publicUrl: config.public_url }, entering);
    },
    jobs: [
      {
        name: "ended sessions of the console",
        async run() {
          await sessions.sweep(Date.now());
          await links.sweep(Date.now());
        },
      },
    ],
  } satisfies Feature;
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
