import type { OutboundRule } from "@shoal/placement";
import { join } from "node:path";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import type { DeliveryRecords } from "../../resources/telemetry-destinations/delivery-records.ts";
import type { TelemetryDestinations } from "../../resources/telemetry-destinations/destinations.ts";
import type { ParsePool } from "../../storage/parsing/parse-pool.ts";
import type { SessionFiles } from "../../storage/session-files/session-files.ts";
import { TelemetryExports } from "./export/exports.ts";
import { type SessionFinder, telemetryHandlers } from "./handlers.ts";
import { StoredTelemetry } from "./stored-telemetry.ts";
import { createTelemetryStore } from "./telemetry-store.ts";

interface TelemetryNeeds {
  readonly destinations: TelemetryDestinations;
  readonly deliveries: DeliveryRecords;
  readonly files: SessionFiles;
  readonly parsing: ParsePool;
  readonly rule: OutboundRule;
  readonly sessions: SessionFinder;
}

const dayMs = 24 * 60 * 60 * 1000;

export function telemetryFeature({ cleanup, config, dataDir, log, serverId }: Host, needs: TelemetryNeeds) {
  const store = createTelemetryStore({
    directory: join(dataDir.path, "telemetry"),
    retentionMs: config.telemetry_retention_days * dayMs,
    parsing: needs.parsing,
    stored: new StoredTelemetry(needs.files, join(dataDir.path, "incoming-telemetry")),
    log,
  });
  const { deliveries, destinations, rule } = needs;
  const exports = new TelemetryExports({ deliveries, destinations, rule, store, serverId, log });
  cleanup.add("the export of telemetry", () => exports.close());
  return {
    provides: { exports, store },
    handlers: telemetryHandlers(needs.sessions, store),
    sweeps: [{ run: () => store.sweep(), problem: "old telemetry could not be removed" }],
    stop: () => exports.close(),
  } satisfies Feature;
}
