import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { partLog } from "../../log/log.ts";
import type { SessionFileKind, SessionFiles } from "../../storage/session-files/session-files.ts";
import { databaseTimeMs } from "../../storage/database-time.ts";
import { SessionUploads, type SessionUploadsParts } from "./session-uploads.ts";

interface UploadNeeds extends Pick<SessionUploadsParts, "isRunning" | "kinds"> {
  readonly files: SessionFiles;
}

const hourMs = 60 * 60 * 1000;

/** Moves files of ended sessions to the store, beginning with files that an earlier run left. */
export function uploadsFeature({ config, database, log }: Host, needs: UploadNeeds) {
  const { files } = needs;
  const uploads = new SessionUploads({ ...needs, log: partLog(log, "uploads") });
  void uploads.addLeft().catch((error: unknown) => {
    log.warn({ err: error }, "the files that an earlier run left could not be listed");
  });
  const retentionHours: Readonly<Record<SessionFileKind, number>> = {
    recording: config.replay_retention_days * 24,
    telemetry: config.telemetry_retention_days * 24,
    download: config.download_retention_hours,
  };
  return {
    provides: uploads,
    gauges: [
      {
        name: "shoal_session_uploads_waiting",
        help: "Sessions of this server whose files are not in the store yet.",
        read: () => uploads.waiting,
      },
    ],
    jobs: [
      {
        name: "old files of sessions in the store",
        /** Deletes files after their retention, then objects without a row. */
        async run() {
          const nowMs = await databaseTimeMs(database.query);
          for (const kind of ["recording", "telemetry", "download"] as const)
            await files.dropBefore(kind, new Date(nowMs - retentionHours[kind] * hourMs));
          await files.sweep();
        },
      },
    ],
    sweeps: [{ run: () => uploads.addLeft(), problem: "files for the store could not be listed" }],
    stop: () => uploads.close(),
  } satisfies Feature;
}
