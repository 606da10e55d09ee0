import type { Database } from "@shoal/database";
import { createOutboundRule } from "@shoal/placement";
import type { Config } from "../../config/settings.ts";
import { createCredentialProviders } from "./credential-providers.ts";
import { type CredentialLookup, OpenedProviders, ProviderLookup } from "./credential-lookup.ts";
import { credentialProviderHandlers } from "./handlers.ts";
import { createOperatorProviders } from "./operator-providers.ts";
import { createProviderHttp } from "./provider-http.ts";
import { openProviderKinds } from "./provider-kinds.ts";
import { ProviderStore } from "./provider-store.ts";
import type { Envelopes } from "../../storage/envelopes/envelopes.ts";

export interface ProviderParts {
  readonly credentialLookup: CredentialLookup;
  readonly providerHandlers: ReturnType<typeof credentialProviderHandlers>;
}

export async function openProviders(
  config: Config,
  {
    database,
    envelopes,
    otherServers,
    onClose,
  }: {
    readonly database: Database;
    readonly envelopes: Envelopes;
    /** Addresses of the other servers. */
    readonly otherServers?: () => Iterable<string>;
    readonly onClose: (what: string, close: () => void) => void;
  },
): Promise<ProviderParts> {
  const rule = createOutboundRule({ allowPrivateHosts: config.credential_provider_hosts, otherServers });
  const http = createProviderHttp(rule);
  const kinds = await openProviderKinds(config.credential_provider_modules, rule);
  const store = new ProviderStore(database, envelopes);
  const timeoutMs = config.credential_provider_timeout_seconds * 1000;
  const opened = new OpenedProviders({ http, kinds, store, timeoutMs });
  onClose(
    "the change feed of credential providers",
    database.onChange((change) => {
      if (change === undefined || change.table === "credential_providers") opened.forget(change?.id);
    }),
  );
  const operator = createOperatorProviders(config, { env: process.env, nameOf: nameOf(database), timeoutMs });
  return {
    credentialLookup: new ProviderLookup({ store, opened, operator }),
    providerHandlers: credentialProviderHandlers(createCredentialProviders({ store, kinds, opened })),
  };
}

const nameOf =
  ({ query }: Database) =>
  async (projectId: string) =>
    (await query.selectFrom("projects").select("name").where("id", "=", projectId).executeTakeFirst())?.name;
