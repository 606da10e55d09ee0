import type { Database } from "@shoal/database";
import type { Config } from "../config/config.ts";
import type { Log } from "../log.ts";
import { StartError } from "../start-error.ts";
import { readAwsIdentity } from "./aws-identity.ts";
import { createDestinationStore } from "./destination-store.ts";
import { createExportDestinations, type ExportDestinations } from "./destinations.ts";

type Settings = Pick<
  Config,
  "audit_export_identity" | "audit_export_role_arn" | "audit_export_sts_url" | "audit_export_s3_url" | "audit_export_seconds"
>;

/** Destinations of the audit log, and the work on them. */
export interface Exports {
  readonly destinations: ExportDestinations;
  /** Stops the work. */
  close(): Promise<void>;
}

/**
 * Exports of the audit log: done where the settings say who the service is at AWS, else refused.
 *
 * @throws {StartError} when settings do not go together.
 */
export async function openExports({
  config,
  database,
  log,
  serverId,
}: {
  readonly config: Settings;
  readonly database: Database;
  readonly serverId: string;
  readonly log: Log;
}): Promise<Exports> {
  const store = createDestinationStore(database, serverId);
  const { audit_export_identity, audit_export_role_arn, audit_export_s3_url, audit_export_sts_url } = config;
  if (audit_export_identity === undefined && audit_export_role_arn === undefined)
    return { destinations: createExportDestinations(store, undefined), close: () => Promise.resolve() };
  if (audit_export_identity === undefined || audit_export_role_arn === undefined) {
    throw new StartError("Of audit_export_identity and audit_export_role_arn, one is given and the other is not.", {
      hint: "Give both: what the service signs with, and the ARN of that user or role, which others name in their trust policies.",
      exitCode: 2,
    });
  }
  const identity = readAwsIdentity(audit_export_identity);
  if (typeof identity === "string")
    throw new StartError(`audit_export_identity ${identity}.`, { hint: "See the table of settings in the service's README.", exitCode: 2 });
  // Who exports nothing does without the signer, which takes 13 MB of memory.
  const [{ createBucketWriter }, { createExportObjects }, { startExporter }] = await Promise.all([
    import("./bucket-writer.ts"),
    import("./export-objects.ts"),
    import("./exporter.ts"),
  ]);
  const writer = createBucketWriter({ identity, s3Url: audit_export_s3_url, stsUrl: audit_export_sts_url });
  await store.releaseAll();
  const exporter = startExporter({
    database,
    store,
    objects: createExportObjects(database),
    writer,
    everyMs: config.audit_export_seconds * 1000,
    log,
  });
  return {
    destinations: createExportDestinations(store, {
      writer,
      roleArn: audit_export_role_arn,
      stop: (id, revision) => {
        exporter.stop(id, revision);
      },
    }),
    close: () => exporter.close(),
  };
}
