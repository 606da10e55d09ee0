import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import type { IssuingKeys } from "../../http/auth/issuing-keys.ts";
import type { ProjectLookup } from "../../http/auth/project-lookup.ts";
import type { Credentials } from "../credentials/credentials.ts";
import { Collections } from "./collections.ts";
import { ConnectionValues } from "./connection-values.ts";
import { vaultHandlers, vaultItemHandlers } from "./handlers.ts";
import { ItemEvents } from "./item-events.ts";
import { Items } from "./items.ts";
import { ItemValues } from "./item-values.ts";
import { VaultKeys } from "./vault-keys.ts";
import { Vaults } from "./vaults.ts";

interface VaultNeeds {
  readonly credentials: Pick<Credentials, "open">;
  readonly issuingKeys: IssuingKeys;
  readonly projects: Pick<ProjectLookup, "find">;
}

/** Stores of login data. */
export function vaultsFeature(
  { database, envelopes, secrets, stopping }: Host,
  { credentials, issuingKeys, projects }: VaultNeeds,
) {
  const vaults = new Vaults(database);
  const keys = new VaultKeys({ database, envelopes });
  const values = new ItemValues({ database, envelopes, keys });
  const connections = new ConnectionValues(database, credentials);
  const items = new Items({ database, envelopes, values, connections });
  const collections = new Collections({ database, issuingKeys, projects, secrets });
  const events = new ItemEvents(database, stopping);
  const parts = { vaults, keys, items, events, collections, values, connections };
  return { provides: parts, handlers: { ...vaultHandlers(parts), ...vaultItemHandlers(parts) } } satisfies Feature;
}
