import { joinChunks } from "@shoal/primitives/node";
import type { FastifyInstance } from "fastify";
import type { ReplicaForwarding } from "../cluster/replica-forwarding.ts";
import { serveDocs } from "../docs/serve-docs.ts";
import type { Feature } from "../host/feature.ts";
import type { Host } from "../host/host.ts";
import { servePageDownloads } from "../http/auth/page-downloads.ts";
import type { BoxConnections } from "../http/box-connections.ts";
import { separateContent } from "../http/content-origin.ts";
import { allowSignInPages } from "../http/cross-origin.ts";
import { serviceHandlers } from "../http/health/handlers.ts";
import { createReadiness } from "../http/health/readiness.ts";
import type { InFlight } from "../http/in-flight.ts";
import { endStalledRequests } from "../http/limits/stalled-requests.ts";
import { serveDescriptions } from "../http/openapi.ts";
import type { RequestOrigins } from "../http/request-origin.ts";

interface RequestNeeds extends Pick<Parameters<typeof createReadiness>[0], "draining" | "placement"> {
  readonly boxes: BoxConnections;
  readonly contentUrl: string | undefined;
  readonly inFlight: InFlight;
  readonly origins: RequestOrigins;
  readonly replicas: ReplicaForwarding;
  readonly onEnd: NonNullable<Feature["requestEnded"]>;
}

/** What every request passes: origins, the count of open requests, stalls, health and the contract as a document. */
export function requestsFeature({ cleanup, config, database, isStopping, log, settings }: Host, needs: RequestNeeds) {
  const { boxes, contentUrl, inFlight, origins, replicas } = needs;
  return {
    openHandlers: serviceHandlers(
      createReadiness({ ...needs, database, chromium: config.chromium, isDraining: isStopping }),
    ),
    serve(app: FastifyInstance) {
      if (contentUrl !== undefined) separateContent(app, { contentUrl, origins, replicas });
      allowSignInPages(app);
      servePageDownloads(app);
      serveDescriptions(app, origins);
      serveDocs(app, { origins });
      inFlight.follow(app.server, needs.onEnd);
      app.server.prependListener("request", joinChunks);
      boxes.serveBy(app.server);
      app.server.maxConnections = config.max_connections;
      const stalled = endStalledRequests(app.server, inFlight, () => settings.inForce.request_stall_seconds, log);
      cleanup.add("the watch for stalled requests", () => {
        stalled.close();
      });
    },
  } satisfies Feature;
}
