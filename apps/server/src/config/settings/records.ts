import { DefaultTelemetry } from "@shoal/schemas";
import * as z from "zod/mini";
import { awsIdentityProblem } from "../aws-identity.ts";
import { endpointUrl, integer, optionalSetting, setting, text } from "./setting.ts";

const frameAncestor = text.check(
  z.refine(
    (value) => /^(self|\*|(?:https?:\/\/)?(?:\*\.)?[\w.-]+(?::(?:\d{1,5}|\*))?)$/.test(value),
    "must be self, *, or a site such as https://app.example or *.example",
  ),
);

const awsIdentity = text.check(
  z.refine((value) => awsIdentityProblem(value) === undefined, {
    error: ({ input }) => awsIdentityProblem(String(input)) ?? "",
  }),
);

const principalArn = text.check(
  z.refine(
    (value) => /^arn:[\w-]+:(?:iam|sts)::\w*:[\w+=,.@/-]{1,600}$/.test(value),
    "must be the ARN of a user or role, such as arn:aws:iam::123456789012:role/shoal",
  ),
);

export const records = {
  invocation_retention_days: setting({
    schema: integer(1, 36_500),
    summary: "How long ended invocations are kept, with their payloads and outputs, 1 to 36500 days.",
    fallback: 30,
  }),
  app_log_retention_days: setting({
    schema: integer(1, 36_500),
    summary: "How long log lines of builds and invocations are kept, 1 to 36500 days.",
    fallback: 14,
    live: true,
  }),
  app_log_max_gib: setting({
    schema: integer(1, 1_048_576),
    summary:
      "Space for the log lines of one project in the database, 1 to 1048576 GiB. When it is full, its oldest lines are deleted.",
    fallback: 5,
    live: true,
  }),
  webhook_retention_days: setting({
    schema: integer(1, 365),
    summary: "How long deliveries of webhooks are kept, 1 to 365 days. Waiting ones are dropped as well.",
    fallback: 7,
    live: true,
  }),
  usage_retention_days: setting({
    schema: integer(1, 36_500),
    summary: "How long usage by day is kept, 1 to 36500 days.",
    fallback: 1_100,
    live: true,
  }),
  usage_seconds: setting({
    schema: integer(1, 60),
    summary:
      "How often the usage of running sessions is recorded, 1 to 60 seconds. A killed server loses at most that much.",
    fallback: 15,
  }),
  audit_retention_days: setting({
    schema: integer(1, 36_500),
    summary: "How long entries of the audit log are kept, 1 to 36500 days.",
    fallback: 365,
    live: true,
  }),
  audit_export_identity: optionalSetting({
    schema: awsIdentity,
    summary:
      "Identity that assumes roles to export the audit log: aws://key:secret@region with permanent keys, or aws://region for the AWS_ variables or the role of this machine. The same on every replica.",
    default: "none, no exports",
    secret: true,
  }),
  audit_export_role_arn: optionalSetting({
    schema: principalArn,
    summary: "ARN of that user or role; shown as kernel_role_arn, for trust policies.",
    default: "none",
  }),
  audit_export_seconds: setting({
    schema: integer(1, 3600),
    summary: "How long entries of the audit log wait for others before they are exported, 1 to 3600 seconds.",
    fallback: 60,
  }),
  audit_export_sts_url: optionalSetting({
    schema: endpointUrl,
    summary: "STS to use instead of that of AWS, for example of MinIO or Ceph.",
    default: "AWS's, of that region",
  }),
  audit_export_s3_url: optionalSetting({
    schema: endpointUrl,
    summary:
      "S3-compatible store with all buckets of exports, instead of that of AWS. Requests name the bucket in their path.",
    default: "AWS's, of the destination's region",
  }),
  default_telemetry: setting({
    schema: DefaultTelemetry,
    summary:
      "What telemetry captures in sessions that say nothing, in projects without their own default: console, network, bodies, page, interaction and screenshot, or off.",
    fallback: ["console", "network", "page"],
    live: true,
  }),
  default_recording: setting({
    schema: z.boolean(),
    summary: "Record sessions as a video from their start, in projects without their own default.",
    fallback: false,
    live: true,
  }),
  telemetry_retention_days: setting({
    schema: integer(1, 3650),
    summary: "How long telemetry is kept after the latest event of its session, 1 to 3650 days.",
    fallback: 30,
  }),
  replay_retention_days: setting({
    schema: integer(1, 3650),
    summary: "How long recordings of sessions are kept after their end, 1 to 3650 days.",
    fallback: 30,
  }),
  download_retention_hours: setting({
    schema: integer(0, 8760),
    summary:
      "How long downloads are kept after the end of their session, encrypted in the data folder, 0 to 8760 hours; 0 keeps none.",
    fallback: 24,
  }),
  download_max_gib: setting({
    schema: integer(1, 1_048_576),
    summary:
      "Space for the kept downloads of one project on this server, 1 to 1048576 GiB. When it is full, further ones are not kept.",
    fallback: 10,
  }),
  replay_max_running: setting({
    schema: integer(1, 100_000),
    summary:
      "Recordings of one project that run on this server at once, and as many of its network recordings, 1 to 100000.",
    fallback: 50,
  }),
  replay_max_gib: setting({
    schema: integer(1, 1_048_576),
    summary:
      "Space for the recordings of one project on this server, and as much for its network recordings, 1 to 1048576 GiB. When it is full, running recordings end, and no network recording starts.",
    fallback: 50,
  }),
  snapshot_retention_days: setting({
    schema: integer(1, 3650),
    summary: "How long snapshots of sessions are kept after they were taken, 1 to 3650 days.",
    fallback: 7,
  }),
  snapshot_max: setting({
    schema: integer(1, 100_000),
    summary: "Snapshots of one project, 1 to 100000.",
    fallback: 50,
  }),
  snapshot_max_gib: setting({
    schema: integer(1, 1_048_576),
    summary: "Space for the snapshots of one project in the store, 1 to 1048576 GiB.",
    fallback: 20,
  }),
  profile_versions: setting({
    schema: integer(1, 1000),
    summary: "Saved states that are kept of each profile, 1 to 1000.",
    fallback: 10,
  }),
  profile_checkpoint_seconds: setting({
    schema: integer(0, 86_400),
    summary:
      "How often a session that saves its profile does so while it is used, 1 to 86400 seconds; 0 = only at its end.",
    fallback: 60,
  }),
  profile_max_mib: setting({
    schema: integer(1, 1_048_576),
    summary: "Largest saved state of a profile, compressed, 1 to 1048576 MiB.",
    fallback: 1024,
  }),
  live_view_hours: setting({
    schema: integer(1, 168),
    summary: "How long an address of a live view is valid, 1 to 168 hours. It ends with the session.",
    fallback: 24,
  }),
  live_view_frame_ancestors: setting({
    schema: z.array(frameAncestor),
    summary:
      "Sites that may show live views in a frame: origins, self for this one, * for all. With an empty list none may.",
    fallback: ["*"],
    default: "*",
  }),
  sign_in_frame_ancestors: setting({
    schema: z.array(frameAncestor),
    summary:
      "Sites that may show the sign-in page of hosted_url and the forms of vaults in a frame: origins, self for this one, * for all. A site in this list can trick people into clicks on these pages.",
    fallback: [],
    default: "none",
  }),
};
