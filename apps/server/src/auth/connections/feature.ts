import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import type { ReferenceParts } from "./connection-references.ts";
import { Connections } from "./connections.ts";
import { connectionHandlers, type LoginPages } from "./handlers.ts";

interface ConnectionNeeds extends ReferenceParts {
  readonly pages: LoginPages;
}

export function connectionsFeature({ database, settings }: Host, { pages, ...needs }: ConnectionNeeds) {
  const connections = new Connections({
    ...needs,
    database,
    minCheckSeconds: () => settings.inForce.min_health_check_seconds,
  });
  return { provides: connections, handlers: connectionHandlers(connections, pages) } satisfies Feature;
}
