import { createOutboundRule } from "@shoal/placement";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { DeliveryRecords } from "./delivery-records.ts";
import { TelemetryDestinations } from "./destinations.ts";
import { telemetryDestinationHandlers } from "./handlers.ts";

export function telemetryDestinationsFeature({ config, database, envelopes, log, otherServers }: Host) {
  const rule = createOutboundRule({ allowPrivateHosts: config.allow_private_hosts, otherServers });
  const isLive = () => database.isListening();
  const destinations = new TelemetryDestinations({ database, envelopes, rule, isLive });
  return {
    provides: { destinations, deliveries: new DeliveryRecords(database, log), rule },
    handlers: telemetryDestinationHandlers(destinations),
    changes: {
      telemetry_destinations: (id: string | undefined) => {
        destinations.forget(id);
      },
    },
  } satisfies Feature;
}
