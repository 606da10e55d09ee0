import type { FastifyInstance } from "fastify";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Entering } from "../host/entering.ts";
import type { Feature } from "../host/feature.ts";
import type { Host } from "../host/host.ts";
import { type ObservationParts, openObservation } from "./observation.ts";

/** Metrics, traces and the access log, above everything that they observe. @throws {StartError} */
export async function observabilityFeature(
  { cleanup, config, database, log, serverId }: Host,
  needs: Omit<ObservationParts, "config" | "database" | "log" | "serverId">,
) {
  const observation = await openObservation({ ...needs, config, database, serverId, log });
  cleanup.add("metrics, traces and the access log", () => observation.close());
  return {
    provides: observation,
    serve(app: FastifyInstance, entering: Entering) {
      observation.join(app, (request) => {
        entering.countRefused(request);
      });
      observation.follow(app.server);
    },
    requestEnded(request: IncomingMessage, response: ServerResponse, durationMs: number) {
      observation.requestEnded(request, response, durationMs);
    },
  } satisfies Feature;
}
