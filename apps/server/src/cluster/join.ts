import type { Database } from "@shoal/database";
import type { FastifyInstance } from "fastify";
import type { Authenticator, KeyRow } from "../http/auth/access.ts";
import type { ReadCache } from "../storage/read-cache.ts";
import type { Log } from "../log/log.ts";
import type { RequestOrigins } from "../http/request-origin.ts";
import { type Heartbeat, startHeartbeat } from "./heartbeat.ts";
import { createLiveFieldsReader, type LiveFieldsReader, type LiveFieldsSource } from "./live-fields.ts";
import { Peers } from "./peers.ts";
import { createReplicaForwarding, type ReplicaForwarding, trustingReplicas } from "./replica-forwarding.ts";
import { Regions } from "./regions.ts";
import { serveReplicas } from "./replica-routes.ts";
import { createReplicaTrust } from "./replica-trust.ts";
import type { ServerAddresses } from "./server-addresses.ts";

export interface Replicas {
  readonly others: LiveFieldsReader;
  readonly regions: Regions;
  readonly isPeer: (serverId: string) => boolean;
  readonly isDoubtful: () => boolean;
  forwardingFrom(origins: RequestOrigins): ReplicaForwarding;
  trusting(authenticator: Authenticator, keys: Pick<ReadCache<KeyRow>, "get">): Authenticator;
  serve(app: FastifyInstance, sessions: LiveFieldsSource): void;
  announce(address: string): Promise<void>;
  announceDrain: Heartbeat["announceDrain"];
  close(): Promise<void>;
}

/** @param parts.onGivenUp - the others declared this server dead. @throws {StartError} for different secrets. */
export async function joinReplicas(parts: {
  readonly database: Database;
  readonly serverId: string;
  readonly region: string;
  readonly serverSecret: string;
  readonly addresses: ServerAddresses;
  readonly log: Log;
  readonly onGivenUp: () => void;
}): Promise<Replicas> {
  const { database, serverId, region, log, onGivenUp } = parts;
  const { secret } = await database.query.selectFrom("replica_secret").select("secret").executeTakeFirstOrThrow();
  const trust = createReplicaTrust(secret, parts.serverSecret, serverId);
  let announced: string | null = null;
  const heartbeat = await startHeartbeat(database, {
    serverId,
    secretCheck: trust.check,
    region,
    log,
    onGivenUp,
    onGone: (peer) => {
      peers.forget(peer);
    },
  });
  parts.addresses.follow(heartbeat.peers);
  const peers = new Peers({
    isDatabaseOwn: database.embedded,
    known: heartbeat.peers,
    refresh: () => heartbeat.refresh(),
    trust,
    log,
  });

  return {
    others: createLiveFieldsReader(peers, log),
    regions: new Regions({
      own: region,
      known: heartbeat.peers,
      refresh: () => heartbeat.refresh(),
      peers,
      database,
      log,
    }),
    isPeer: (id) => heartbeat.peers.has(id),
    isDoubtful: () => heartbeat.isDoubtful(),
    forwardingFrom: (origins) => createReplicaForwarding({ peers, trust, origins }),
    trusting: (authenticator, keys) => trustingReplicas(authenticator, trust, keys),
    serve(app, sessions) {
      serveReplicas(app, { trust, serverId, sessions, address: () => announced });
    },
    async announce(address) {
      announced = address;
      await heartbeat.announce(address);
    },
    announceDrain: (forMs) => heartbeat.announceDrain(forMs),
    async close() {
      peers.close();
      await heartbeat.stop();
    },
  };
}
