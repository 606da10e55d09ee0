import { startJobs } from "../cluster/jobs.ts";
import type { Feature } from "../host/feature.ts";
import type { Host } from "../host/host.ts";
import { partLog } from "../log/log.ts";
import { usageHandlers } from "./handlers.ts";
import { type StoredFiles, writeStoredFiles } from "./stored-files.ts";
import { type Charge, UsageCharges } from "./usage-charges.ts";
import { UsageMeter } from "./usage-meter.ts";
import { UsageReport } from "./usage-report.ts";

const dayMs = 24 * 60 * 60 * 1000;
const storageMs = 5 * 60 * 1000;

/**
 * Starts to record the usage of this server's sessions, and to charge that of all servers.
 * @param onCharge - receives the use that this server charges, for metrics.
 */
export function usageFeature(
  { cleanup, config, database, log: hostLog, serverId, settings }: Host,
  onCharge: (charges: readonly Charge[]) => void,
) {
  const log = partLog(hostLog, "usage");
  const everyMs = config.usage_seconds * 1000;
  const files: StoredFiles[] = [];
  const charges = new UsageCharges(database, onCharge);
  const jobs = startJobs(
    database,
    [
      // Below the interval of the looks, so that jitter does not skip every second one.
      { name: "usage of sessions", everyMs: everyMs / 2, run: () => charges.charge() },
      { name: "usage of storage", everyMs: storageMs, run: () => charges.chargeStorage() },
      {
        name: "old usage",
        everyMs: dayMs,
        run: () => charges.dropBefore(settings.inForce.usage_retention_days),
      },
    ],
    { log, lookEveryMs: everyMs },
  );
  cleanup.add("the jobs of usage", () => jobs.close());
  const meter = new UsageMeter(database, { everyMs, log });
  cleanup.add("the usage of sessions", () => meter.close());
  const measuring = setInterval(() => {
    writeStoredFiles(database, serverId, files).catch((error: unknown) => {
      log.warn({ err: error }, "the size of stored files could not be recorded");
    });
  }, storageMs);
  cleanup.add("the size of stored files", () => {
    clearInterval(measuring);
  });
  return {
    provides: {
      meter,
      /** Adds files that this server keeps for projects. */
      addStoredFiles: (source: StoredFiles) => void files.push(source),
    },
    handlers: usageHandlers(new UsageReport(database)),
  } satisfies Feature;
}
