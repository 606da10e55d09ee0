import { startJobs } from "../../cluster/jobs.ts";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";

const hourMs = 60 * 60 * 1000;

/** Deletes expired data every hour: once for all servers, and in this server's folder. */
export function startSweeps({ cleanup, database, log }: Host, features: readonly Feature[]): void {
  const jobs = startJobs(
    database,
    features.flatMap((feature) => feature.jobs ?? []).map((job) => ({ ...job, everyMs: hourMs })),
    { log, lookEveryMs: hourMs / 6 },
  );
  const sweeps = features.flatMap((feature) => feature.sweeps ?? []);
  const own = setInterval(() => {
    for (const { problem, run } of sweeps)
      run().catch((error: unknown) => {
        log.warn({ err: error }, problem);
      });
  }, hourMs);
  cleanup.add("the regular sweeps", async () => {
    clearInterval(own);
    await jobs.close();
  });
}

/** Tells features which rows changed. What they read before they could hear of changes is forgotten. */
export function followChanges({ cleanup, database }: Host, features: readonly Feature[]): void {
  const all = features.flatMap((feature) => Object.entries(feature.changes ?? {}));
  const unlisten = database.onChange((change) => {
    for (const [table, changed] of all) if (change === undefined || change.table === table) changed(change?.id);
  });
  cleanup.add("the change feed", unlisten);
  for (const [, changed] of all) changed(undefined);
}
