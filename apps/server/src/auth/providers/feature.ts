import type { Database } from "@shoal/database";
import { createOutboundRule } from "@shoal/placement";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { CredentialProviders } from "./credential-providers.ts";
import { OpenedProviders, CredentialLookup, type OpenCredentialProvider } from "./credential-lookup.ts";
import { credentialProviderHandlers } from "./handlers.ts";
import { createOperatorProviders } from "./operator-providers.ts";
import { GuardedHttp } from "./provider-http.ts";
import { openProviderKinds } from "./provider-kinds.ts";
import { ProviderStore } from "./provider-store.ts";

/** @param open - replaces what connects to the secret stores. */
export async function credentialProvidersFeature(
  { config, database, envelopes, otherServers }: Pick<Host, "config" | "database" | "envelopes" | "otherServers">,
  open?: OpenCredentialProvider,
) {
  const rule = createOutboundRule({ allowPrivateHosts: config.credential_provider_hosts, otherServers });
  const http = new GuardedHttp(rule);
  const kinds = await openProviderKinds(config.credential_provider_modules, rule);
  const store = new ProviderStore(database, envelopes);
  const timeoutMs = config.credential_provider_timeout_seconds * 1000;
  const opened = new OpenedProviders({ http, kinds, open, store, timeoutMs });
  const operator = createOperatorProviders(config, { env: process.env, nameOf: nameOf(database), timeoutMs });
  return {
    provides: new CredentialLookup({ store, opened, operator }),
    handlers: credentialProviderHandlers(new CredentialProviders({ store, kinds, opened })),
    changes: {
      credential_providers: (id: string | undefined) => {
        opened.forget(id);
      },
    },
  } satisfies Feature;
}

export type { OpenCredentialProvider };

const nameOf =
  ({ query }: Database) =>
  async (projectId: string) =>
    (await query.selectFrom("projects").select("name").where("id", "=", projectId).executeTakeFirst())?.name;
