import type { Config } from "../../config/settings.ts";
import type { Database } from "@shoal/database";
import type { Invocations } from "../../apps/invocations/invocations.ts";
import type { Deployments } from "../../apps/deployments/deployments.ts";
import type { OpenConsole } from "../../console/open-console.ts";
import type { AuditChain } from "../../audit/logs/chain.ts";
import type { Extensions } from "../../resources/extensions/extensions.ts";
import type { Idempotency } from "../../http/idempotency/idempotency.ts";
import type { Log } from "../../log/log.ts";
import type { ProfileStates } from "../../resources/profiles/profile-states.ts";
import { startJobs } from "../../cluster/jobs.ts";
import type { DownloadStore } from "../../sessions/downloads/download-store.ts";
import type { HandoffStore } from "../../sessions/handoff/handoff-store.ts";
import type { LiveViewLinks } from "../../sessions/handoff/live-view-links.ts";
import type { ReplayStore } from "../../sessions/replays/replay-store.ts";
import type { TelemetryStore } from "../../sessions/telemetry/telemetry-store.ts";
import type { SessionUploads } from "../../sessions/uploads/session-uploads.ts";
import type { SessionFiles } from "../../storage/session-files/session-files.ts";
import type { WebhookParts } from "../../webhooks/open-webhooks.ts";
import type { Rules } from "../rules.ts";

const hourMs = 60 * 60 * 1000;

export interface SweepsParts {
  readonly database: Database;
  readonly extensions: Pick<Extensions, "sweep">;
  readonly profileStates: Pick<ProfileStates, "sweep">;
  readonly console: Pick<OpenConsole, "sweep">;
  readonly invocations: Pick<Invocations, "sweep">;
  readonly deployments: Pick<Deployments, "sweep">;
  readonly idempotency: Pick<Idempotency, "sweep">;
  readonly chain: Pick<AuditChain, "dropBefore">;
  readonly webhookDeliveries: WebhookParts["webhookDeliveries"];
  readonly liveViewLinks: Pick<LiveViewLinks, "sweep">;
  readonly sessionHandoffs: { readonly store: Pick<HandoffStore, "sweep"> };
  readonly downloads: Pick<DownloadStore, "sweep">;
  readonly replays: Pick<ReplayStore, "sweep">;
  readonly telemetry: Pick<TelemetryStore, "sweep">;
  readonly sessionFiles: Pick<SessionFiles, "dropBefore" | "sweep">;
  readonly uploads: Pick<SessionUploads, "addLeft">;
  readonly retention: Pick<Config, "download_retention_hours" | "replay_retention_days" | "telemetry_retention_days">;
  readonly rules: Pick<Rules, "inForce">;
  readonly log: Log;
}

/** Deletes expired data every hour: once for all servers, and in this server's folder. */
export function startSweeps({ database, log, ...parts }: SweepsParts): { close(): Promise<void> } {
  const jobs = startJobs(
    database,
    [
      { name: "archives that belong to no extension", everyMs: hourMs, run: () => parts.extensions.sweep() },
      { name: "old files of sessions in the store", everyMs: hourMs, run: () => dropStored(parts) },
      { name: "states that belong to no profile", everyMs: hourMs, run: () => parts.profileStates.sweep() },
      { name: "ended invocations and idle keys", everyMs: hourMs, run: () => parts.invocations.sweep() },
      { name: "log lines and builds of apps", everyMs: hourMs, run: () => parts.deployments.sweep() },
      { name: "old deliveries of webhooks", everyMs: hourMs, run: () => parts.webhookDeliveries.sweep() },
      {
        name: "expired links and old handoffs",
        everyMs: hourMs,
        run: async () => {
          await parts.liveViewLinks.sweep();
          await parts.sessionHandoffs.store.sweep();
        },
      },
      { name: "ended sessions of the console", everyMs: hourMs, run: () => parts.console.sweep() },
      { name: "old idempotency keys", everyMs: hourMs, run: () => parts.idempotency.sweep() },
      {
        name: "old entries of the audit log",
        everyMs: hourMs,
        run: () =>
          parts.chain.dropBefore(new Date(Date.now() - parts.rules.inForce.audit_retention_days * 24 * hourMs)),
      },
    ],
    { log, lookEveryMs: hourMs / 6 },
  );
  const own = setInterval(() => {
    parts.replays.sweep().catch((error: unknown) => {
      log.warn({ err: error }, "old recordings could not be removed");
    });
    parts.uploads.addLeft().catch((error: unknown) => {
      log.warn({ err: error }, "files for the store could not be listed");
    });
    parts.downloads.sweep().catch((error: unknown) => {
      log.warn({ err: error }, "old downloads could not be removed");
    });
    parts.telemetry.sweep().catch((error: unknown) => {
      log.warn({ err: error }, "old telemetry could not be removed");
    });
  }, hourMs);
  return {
    async close() {
      clearInterval(own);
      await jobs.close();
    },
  };
}

/** Deletes files after their retention, then objects without a row. */
async function dropStored({ retention, sessionFiles }: Pick<SweepsParts, "retention" | "sessionFiles">): Promise<void> {
  const hours = {
    recording: retention.replay_retention_days * 24,
    telemetry: retention.telemetry_retention_days * 24,
    download: retention.download_retention_hours,
  } as const;
  for (const kind of ["recording", "telemetry", "download"] as const)
    await sessionFiles.dropBefore(kind, new Date(Date.now() - hours[kind] * hourMs));
  await sessionFiles.sweep();
}
