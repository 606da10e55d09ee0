import type { Database } from "@shoal/database";
import { People } from "../../console/people.ts";
import type { KeyRow } from "../../http/auth/access.ts";
import { createIssuingKeys, type IssuingKeys } from "../../http/auth/issuing-keys.ts";
import { keyStreams } from "../../http/auth/key-streams.ts";
import { KeyWatch } from "../../http/auth/key-watch.ts";
import { createProjectLookup, type ProjectLookup } from "../../http/auth/project-lookup.ts";
import type { InFlight } from "../../http/in-flight.ts";
import type { Log } from "../../log/log.ts";
import { createApiKeyStore } from "../../resources/api-keys/api-key-store.ts";
import { type ApiKeys, createApiKeys } from "../../resources/api-keys/api-keys.ts";
import { createKeyUses, type KeyUses } from "../../resources/api-keys/key-uses.ts";
import { createProjectStore } from "../../resources/projects/project-store.ts";
import { createProjects, type Projects } from "../../resources/projects/projects.ts";
import type { OpenSockets } from "../../sessions/sockets/open-sockets.ts";
import { createReadCache, type ReadCache } from "../../storage/read-cache.ts";
import type { Cleanup } from "./cleanup.ts";

export interface AccessParts {
  readonly apiKeys: ApiKeys;
  readonly keys: ReadCache<KeyRow>;
  readonly keysById: ReadCache<KeyRow>;
  readonly keyUses: KeyUses;
  readonly people: People;
  readonly issuingKeys: IssuingKeys;
  readonly projects: Projects;
  readonly lookup: ProjectLookup;
}

export function openAccess({
  database,
  inFlight,
  sockets,
  log,
  cleanup,
}: {
  readonly database: Database;
  readonly inFlight: InFlight;
  readonly sockets: OpenSockets;
  readonly log: Log;
  readonly cleanup: Cleanup;
}): AccessParts {
  const isLive = () => database.isListening();
  const lookup = createProjectLookup(database, isLive);
  const store = createApiKeyStore(database);
  const cacheOf = (load: (key: string) => Promise<KeyRow | undefined>) =>
    createReadCache<KeyRow>({ max: 10_000, isLive, isPrivate: database.isJoined, load, idOf: (key) => key.id });
  const keys = cacheOf((hash) => store.findByHash(hash));
  const people = new People(database);
  // Persons have the role of keys in URLs and connections that depend on them.
  const keysById = cacheOf(async (id) => (await store.findActive(id)) ?? (await people.find(id))?.key);
  const keyWatch = new KeyWatch({
    keys: keysById,
    *connections() {
      yield* keyStreams(inFlight.responses());
      yield* sockets.keyConnections();
    },
    log,
  });
  cleanup.add("the watch of API keys", () => {
    keyWatch.close();
  });
  const forgetKey = (id: string): void => {
    keys.forget(id);
    keysById.forget(id);
    keyWatch.look();
  };
  const apiKeys = createApiKeys(store, lookup, (id) =>
    database.afterwards(() => {
      forgetKey(id);
    }),
  );
  const projects = createProjects(createProjectStore(database), (changed) => {
    for (const id of changed.projects) lookup.forget(id);
    for (const id of changed.keys ?? []) forgetKey(id);
  });
  const keyUses = createKeyUses(database, log);
  cleanup.add("the last uses of keys", () => keyUses.close());
  cleanup.add(
    "the change feed of keys and projects",
    database.onChange((change) => {
      if (change === undefined) for (const cache of [keys, keysById, lookup, people]) cache.forgetAll();
      else if (change.table === "users") {
        people.forget(change.id);
        forgetKey(change.id);
      } else if (change.table === "api_keys") forgetKey(change.id);
      else if (change.table === "projects") lookup.forget(change.id);
    }),
  );
  return { apiKeys, people, keys, keysById, keyUses, issuingKeys: createIssuingKeys(keysById), projects, lookup };
}
