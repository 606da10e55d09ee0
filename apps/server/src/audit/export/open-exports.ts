import type { Database } from "@shoal/database";
import type { Config } from "../../config/settings.ts";
import type { Log } from "../../log/log.ts";
import { withAwsSdk } from "../../storage/blobs/aws-sdk.ts";
import { StartError } from "../../config/start-error.ts";
import { readAwsIdentity } from "../../config/aws-identity.ts";
import { createDestinationStore } from "./destination-store.ts";
import { createExportDestinations, type ExportDestinations } from "./destinations.ts";
import { createExportObjects } from "./export-objects.ts";
import { startExporter } from "./exporter.ts";

type Settings = Pick<
  Config,
  | "audit_export_identity"
  | "audit_export_role_arn"
  | "audit_export_sts_url"
  | "audit_export_s3_url"
  | "audit_export_seconds"
>;

export interface Exports {
  readonly destinations: ExportDestinations;
  close(): Promise<void>;
}

/** Without an AWS identity, requests are rejected. @throws {StartError} when the settings conflict. */
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
    throw new StartError("audit_export_identity and audit_export_role_arn must be set together.", {
      hint: "Set both: the AWS identity of the service, and the ARN of that user or role for trust policies.",
      exitCode: 2,
    });
  }
  const identity = readAwsIdentity(audit_export_identity);
  if (typeof identity === "string")
    throw new StartError(`audit_export_identity ${identity}.`, {
      hint: "See the table of settings in the service's README.",
      exitCode: 2,
    });
  const { createBucketWriter } = await withAwsSdk("audit_export_identity", () => import("./bucket-writer.ts"));
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
