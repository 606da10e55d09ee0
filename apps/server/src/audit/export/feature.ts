import type { Feature } from "../../host/feature.ts";
import { guardedLookup } from "@shoal/placement";
import type { Host } from "../../host/host.ts";
import { operatorRule } from "../../host/operator-rule.ts";
import { withAwsSdk } from "../../storage/blobs/aws-sdk.ts";
import { StartError } from "../../config/start-error.ts";
import { readAwsIdentity } from "../../config/aws-identity.ts";
import { DestinationStore } from "./destination-store.ts";
import { ExportDestinations } from "./destinations.ts";
import { createExportObjects } from "./export-objects.ts";
import { Exporter } from "./exporter.ts";
import { exportDestinationHandlers } from "./handlers.ts";

/** @throws {StartError} when the settings conflict. */
export async function auditExportFeature(host: Host) {
  const destinations = await openDestinations(host);
  return { handlers: exportDestinationHandlers(destinations) } satisfies Feature;
}

/** Without an AWS identity, requests are rejected. @throws {StartError} when the settings conflict. */
export async function openDestinations({
  cleanup,
  config,
  database,
  log,
  otherServers,
  serverId,
}: Pick<Host, "cleanup" | "config" | "database" | "log" | "otherServers" | "serverId">): Promise<ExportDestinations> {
  const store = new DestinationStore(database, serverId);
  const { audit_export_identity, audit_export_role_arn, audit_export_s3_url, audit_export_sts_url } = config;
  if (audit_export_identity === undefined && audit_export_role_arn === undefined)
    return new ExportDestinations(store, undefined);
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
  const urls = [audit_export_s3_url, audit_export_sts_url];
  const { BucketWriter } = await withAwsSdk("audit_export_identity", () => import("./bucket-writer.ts"));
  const writer = new BucketWriter({
    identity,
    s3Url: audit_export_s3_url,
    stsUrl: audit_export_sts_url,
    lookup: guardedLookup(
      operatorRule({ config, otherServers }, urls),
      urls.flatMap((url) => (url === undefined ? [] : new URL(url))),
    ),
  });
  await store.releaseAll();
  const exporter = new Exporter({
    database,
    store,
    objects: createExportObjects(database),
    writer,
    everyMs: config.audit_export_seconds * 1000,
    log,
  });
  cleanup.add("exports of the audit log", () => exporter.close());
  return new ExportDestinations(store, {
    writer,
    roleArn: audit_export_role_arn,
    stop: (id, revision) => {
      exporter.stop(id, revision);
    },
  });
}
