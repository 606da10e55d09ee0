import type { Database } from "@shoal/database";
import { startJobs } from "../cluster/jobs.ts";
import type { Log } from "../log/log.ts";
import { usageHandlers } from "./handlers.ts";
import { type StoredFiles, writeStoredFiles } from "./stored-files.ts";
import { type Charge, UsageCharges } from "./usage-charges.ts";
import { UsageMeter } from "./usage-meter.ts";
import { UsageReport } from "./usage-report.ts";

export interface UsageParts {
  readonly meter: UsageMeter;
  readonly handlers: ReturnType<typeof usageHandlers>;
  /** For metrics: the use that this server charges. */
  onCharge(listener: (charges: readonly Charge[]) => void): void;
  /** Adds files that this server keeps for projects. */
  addStoredFiles(source: StoredFiles): void;
}

const dayMs = 24 * 60 * 60 * 1000;
const storageMs = 5 * 60 * 1000;

/** Starts to record the usage of this server's sessions, and to charge that of all servers. */
export function openUsage(parts: {
  readonly database: Database;
  readonly serverId: string;
  readonly everyMs: number;
  readonly retentionDays: () => number;
  readonly log: Log;
  readonly onClose: (what: string, close: () => Promise<void>) => void;
}): UsageParts {
  const { database, everyMs, log, onClose, serverId } = parts;
  const listeners = new Set<(charges: readonly Charge[]) => void>();
  const files: StoredFiles[] = [];
  const charges = new UsageCharges(database, (charged) => {
    for (const listener of listeners) listener(charged);
  });
  const jobs = startJobs(
    database,
    [
      // Below the interval of the looks, so that jitter does not skip every second one.
      { name: "usage of sessions", everyMs: everyMs / 2, run: () => charges.charge() },
      { name: "usage of storage", everyMs: storageMs, run: () => charges.chargeStorage() },
      { name: "old usage", everyMs: dayMs, run: () => charges.dropBefore(parts.retentionDays()) },
    ],
    { log, lookEveryMs: everyMs },
  );
  onClose("the jobs of usage", () => jobs.close());
  const meter = new UsageMeter(database, { everyMs, log });
  onClose("the usage of sessions", () => meter.close());
  const measuring = setInterval(() => {
    writeStoredFiles(database, serverId, files).catch((error: unknown) => {
      log.warn({ err: error }, "the size of stored files could not be recorded");
    });
  }, storageMs);
  onClose("the size of stored files", () => {
    clearInterval(measuring);
    return Promise.resolve();
  });
  return {
    meter,
    handlers: usageHandlers(new UsageReport(database)),
    onCharge: (listener) => void listeners.add(listener),
    addStoredFiles: (source) => void files.push(source),
  };
}
