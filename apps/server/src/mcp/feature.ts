import type { FastifyInstance } from "fastify";
import type { Entering } from "../host/entering.ts";
import type { Feature } from "../host/feature.ts";
import type { Host } from "../host/host.ts";
import { McpService, type McpServiceParts } from "./mcp-service.ts";

export function mcpFeature(
  { config, log, serverId }: Host,
  needs: Pick<McpServiceParts, "localUrl" | "origins" | "ownRequests" | "replicas">,
) {
  const mcp = new McpService({ ...needs, config, serverId, log });
  return {
    serve(app: FastifyInstance, entering: Entering) {
      mcp.serve(app, entering);
    },
    stop: () => mcp.close(),
  } satisfies Feature;
}
