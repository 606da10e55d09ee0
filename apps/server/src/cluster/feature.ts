import type { FastifyInstance } from "fastify";
import type { Feature } from "../host/feature.ts";
import type { Host } from "../host/host.ts";
import type { RequestOrigins } from "../http/request-origin.ts";
import { joinReplicas } from "./join.ts";
import type { LiveFieldsSource } from "./live-fields.ts";
import type { ServerAddresses } from "./server-addresses.ts";

interface ClusterNeeds {
  readonly addresses: ServerAddresses;
  readonly serverSecret: string;
  readonly origins: RequestOrigins;
  readonly sessions: () => LiveFieldsSource;
  /** The others declared this server dead. */
  readonly onGivenUp: () => void;
}

/** Registers this server. @throws {StartError} for different secrets. */
export async function clusterFeature(
  { cleanup, config, database, log, serverId }: Host,
  { origins, sessions, ...needs }: ClusterNeeds,
) {
  const replicas = await joinReplicas({ ...needs, database, serverId, region: config.region, log });
  cleanup.add("the connections to other servers", () => replicas.close());
  return {
    provides: { replicas, forwarding: replicas.forwardingFrom(origins) },
    serve(app: FastifyInstance) {
      replicas.serve(app, sessions());
    },
  } satisfies Feature;
}
