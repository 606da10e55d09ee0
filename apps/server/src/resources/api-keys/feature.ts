import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import type { KeyRow } from "../../http/auth/access.ts";
import { createIssuingKeys } from "../../http/auth/issuing-keys.ts";
import { KeyScopes } from "../../http/auth/key-scopes.ts";
import { keyStreams } from "../../http/auth/key-streams.ts";
import { type KeyConnection, KeyWatch } from "../../http/auth/key-watch.ts";
import { PolicyObjects } from "../../http/auth/key-scopes.ts";
import { createProjectLookup } from "../../http/auth/project-lookup.ts";
import type { InFlight } from "../../http/in-flight.ts";
import { createReadCache } from "../../storage/read-cache.ts";
import { ApiKeyStore } from "./api-key-store.ts";
import { ApiKeys } from "./api-keys.ts";
import { apiKeyHandlers } from "./handlers.ts";
import { createKeyUses } from "./key-uses.ts";

interface KeyNeeds {
  /** Persons have the role of keys in URLs and connections that depend on them. */
  readonly people: {
    find(id: string): Promise<{ readonly key: KeyRow } | undefined>;
    forget(id: string): void;
    forgetAll(): void;
  };
  readonly inFlight: InFlight;
  /** Sockets that depend on a key. */
  readonly keyConnections: () => Iterable<KeyConnection>;
}

export function apiKeysFeature({ cleanup, database, log }: Host, { inFlight, keyConnections, people }: KeyNeeds) {
  const isLive = () => database.isListening();
  const lookup = createProjectLookup(database, isLive);
  const store = new ApiKeyStore(database);
  const cacheOf = (load: (key: string) => Promise<KeyRow | undefined>) =>
    createReadCache<KeyRow>({ max: 10_000, isLive, isPrivate: database.isJoined, load, idOf: (key) => key.id });
  const keys = cacheOf((hash) => store.findByHash(hash));
  const keysById = cacheOf(async (id) => (await store.findActive(id)) ?? (await people.find(id))?.key);
  const keyWatch = new KeyWatch({
    keys: keysById,
    *connections() {
      yield* keyStreams(inFlight.responses());
      yield* keyConnections();
    },
    log,
  });
  cleanup.add("the watch of API keys", () => {
    keyWatch.close();
  });
  const forgetKey = (id: string | undefined): void => {
    if (id === undefined) {
      keys.forgetAll();
      keysById.forgetAll();
    } else {
      keys.forget(id);
      keysById.forget(id);
      keyWatch.look();
    }
  };
  const policyObjects = new PolicyObjects(database);
  const apiKeys = new ApiKeys({
    store,
    projects: lookup,
    objects: policyObjects,
    forget: (id) =>
      database.afterwards(() => {
        forgetKey(id);
      }),
  });
  const keyUses = createKeyUses(database, log);
  cleanup.add("the last uses of keys", () => keyUses.close());
  return {
    provides: {
      apiKeys,
      forgetKey,
      issuingKeys: createIssuingKeys(keysById),
      keys,
      keysById,
      keyScopes: new KeyScopes(policyObjects),
      keyUses,
      lookup,
      policyObjects,
    },
    handlers: apiKeyHandlers(apiKeys),
    changes: {
      api_keys: forgetKey,
      projects(id: string | undefined) {
        if (id === undefined) lookup.forgetAll();
        else lookup.forget(id);
      },
      users(id: string | undefined) {
        if (id === undefined) people.forgetAll();
        else people.forget(id);
        forgetKey(id);
      },
    },
  } satisfies Feature;
}
