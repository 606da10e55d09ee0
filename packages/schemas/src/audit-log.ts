import * as z from "zod/mini";
import { AwsRegion, BucketName, KeyPrefix, KmsKey, KmsKeyOrNone, RoleArn } from "./aws-names.ts";
import { pageFields, Timestamp } from "./common.ts";
import { checked, lazyObject, openEnum, type Schema } from "./schema.ts";

export const AuditLogEntryShape = lazyObject(() => ({
  /** When the request came. */
  timestamp: Timestamp,
  /** How the caller proved who it is: `api_key`, `session_token`, `live_view`, `dashboard`, `oauth`; `service` = the service did it by itself. */
  auth_strategy: z.string(),
  /** Id of the key or person; empty where it is not known. */
  user_id: z.string(),
  /** The person's address; empty where there is none. */
  email: z.string(),
  /** HTTP status of the answer. */
  status: z.int(),
  /** HTTP method. */
  method: z.string(),
  /** The path as it was asked for, without its query. */
  path: z.string(),
  /** The operation's path with its placeholders, `/profiles/{id_or_name}`; empty where none answers. */
  route: z.string(),
  /** The host that the request was sent to. */
  domain: z.string(),
  /** Milliseconds until the answer was sent. */
  duration_ms: z.int(),
  /** Where the request came from. */
  client_ip: z.string(),
  /** The program that sent it, as it calls itself. */
  user_agent: z.string(),
  /** Stable identifier of the entry. */
  event_id: z.optional(z.string()),
  /** Place in the log, from 1 on without a gap. */
  sequence: z.optional(z.int()),
  /** The `X-Request-Id` of the answer. */
  request_id: z.optional(z.string()),
  /** The operation's name, `profiles.update`. */
  operation: z.optional(z.string()),
  /** The project that the request acted in. */
  project_id: z.optional(z.string()),
}));
/** One request, as the audit log keeps it. */
export interface AuditLogEntry extends z.output<typeof AuditLogEntryShape> {}
export const AuditLogEntry: Schema<AuditLogEntry> = AuditLogEntryShape;

/** A moment with its offset from UTC, ISO 8601. */
const Moment: Schema<string> = z.lazy(() => z.iso.datetime({ offset: true }));

const filterFields = () => ({
  /** From this moment on, ISO 8601: `2026-01-31T00:00:00Z`. */
  start: Moment,
  /** Until before this moment, later than `start` by at most 30 days. */
  end: Moment,
  /** Only callers that proved who they are this way: `api_key`, `session_token`, `live_view`, `dashboard`, `oauth`; `service` = what the service did by itself. */
  auth_strategy: z.optional(z.string()),
  /** Only requests to this part of the service, the first word of an operation's name: `browsers`, `apiKeys`. */
  service: z.optional(z.string()),
  /** Only this HTTP method. */
  method: z.optional(z.string()),
  /** All HTTP methods but these, at most 10. */
  exclude_method: z.optional(checked(z.array(z.string()), z.maxLength(10))),
  /** Part of a path, a user's id or address, a client's IP address or a status. */
  search: z.optional(z.string()),
  /** Ids of users, at most 100; what they did is shown beside what `search` finds. */
  search_user_id: z.optional(checked(z.array(z.string()), z.maxLength(100))),
});

const longestWindowMs = 30 * 24 * 60 * 60 * 1000;
const windowMs = (query: { readonly start: string; readonly end: string }): number => Date.parse(query.end) - Date.parse(query.start);
const notAfterStart = { path: ["end"], error: "must be later than start" };
const tooLong = { path: ["end"], error: "must be at most 30 days after start" };

export const ListAuditLogsShape = z.lazy(() =>
  checked(
    z.object({
      ...filterFields(),
      /** Entries on a page, 1 to 100. */
      limit: z._default(checked(z.int(), z.minimum(1), z.maximum(100)), 100),
      /** Names the page, as the one before it told; absent for the first. */
      page_token: z.optional(z.string()),
    }),
    z.refine((query) => windowMs(query) > 0, notAfterStart),
    z.refine((query) => windowMs(query) <= longestWindowMs, tooLong),
  ),
);
/** What `auditLogs.list` takes. */
export interface ListAuditLogs extends z.input<typeof ListAuditLogsShape> {}
export const ListAuditLogs: Schema<z.output<typeof ListAuditLogsShape>, ListAuditLogs> = ListAuditLogsShape;

export const ExportAuditLogsShape = z.lazy(() =>
  checked(
    z.object({
      ...filterFields(),
      /** Names the chunk, as the one before it told; absent for the first. */
      cursor: z.optional(z.string()),
      /** Entries in a chunk, 1 to 50000. */
      limit: z._default(checked(z.int(), z.minimum(1), z.maximum(50_000)), 50_000),
      /** JSON, one entry a line; `jsonl.gz` compresses each chunk, and the chunks one after another are one gzip file. */
      format: z._default(z.enum(["jsonl", "jsonl.gz"]), "jsonl.gz"),
    }),
    z.refine((query) => windowMs(query) > 0, notAfterStart),
    z.refine((query) => windowMs(query) <= longestWindowMs, tooLong),
  ),
);
/** What `auditLogs.exportChunk` takes. */
export interface ExportAuditLogs extends z.input<typeof ExportAuditLogsShape> {}
export const ExportAuditLogs: Schema<z.output<typeof ExportAuditLogsShape>, ExportAuditLogs> = ExportAuditLogsShape;

export const VerifyAuditLogsShape = lazyObject(() => ({
  /** The `head` that an earlier call gave, `1042:9f2c…`: whether the log still holds that entry as it was. */
  known_head: z.optional(checked(z.string(), z.regex(/^[1-9]\d{0,14}:[0-9a-f]{64}$/, "the head that an earlier call gave, SEQUENCE:HASH"))),
}));
/** What `auditLogs.verify` takes. */
export interface VerifyAuditLogs extends z.input<typeof VerifyAuditLogsShape> {}
export const VerifyAuditLogs: Schema<z.output<typeof VerifyAuditLogsShape>, VerifyAuditLogs> = VerifyAuditLogsShape;

export const AuditLogVerificationShape = lazyObject(() => ({
  /** Whether every entry is as it was written, and none is missing. */
  valid: z.boolean(),
  /** Entries that were looked at. */
  entries: z.int(),
  /** The newest entry's sequence and hash, `1042:9f2c…`, to be noted outside and given as `known_head` later; empty while there is no entry. */
  head: z.string(),
  /** The first thing that is wrong; absent when nothing is. */
  problem: z.optional(
    z.object({
      /** `changed`: an entry is not as it was written. `missing`: entries were removed. `head`: the end of the log is not the one that was sealed. `truncated`: the log does not hold the newest entry that the server which answers has seen. `known_head`: the log does not hold the entry that was noted. */
      kind: openEnum("changed", "missing", "head", "truncated", "known_head"),
      /** Sequence of the entry concerned. */
      sequence: z.int(),
      /** For people: what is wrong. */
      message: z.string(),
    }),
  ),
}));
/** Whether the audit log is whole. */
export interface AuditLogVerification extends z.output<typeof AuditLogVerificationShape> {}
export const AuditLogVerification: Schema<AuditLogVerification> = AuditLogVerificationShape;

export const AuditLogExportDestinationShape = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** What kind of store it is. */
  type: openEnum("s3"),
  /** How entries are written. */
  format: openEnum("jsonl.gz"),
  /** Name of the bucket. */
  bucket: z.string(),
  /** What the names of all objects begin with. */
  prefix: z.string(),
  /** The bucket's region. */
  region: z.string(),
  /** The role that is taken on to write. */
  role_arn: z.string(),
  /** What the role's trust policy must ask for as the external id (`sts:ExternalId`). The service makes it; it never changes. */
  external_id: z.string(),
  /** The service's own role or user, which the trust policy must name; empty where the service has none any more. */
  kernel_role_arn: z.string(),
  /** The key that objects are encrypted with; absent = the bucket's default. */
  kms_key_id: z.optional(z.string()),
  /** Whether entries are exported now. */
  status: openEnum("active", "paused"),
  /** Failed tries since the last that worked. */
  consecutive_failures: z.int(),
  /** When it was made. */
  created_at: Timestamp,
  /** When it was last changed. */
  updated_at: Timestamp,
  /** What the last failed try failed with; it stays after tries that worked. */
  last_error: z.optional(z.nullable(z.string())),
  /** When that was. */
  last_error_at: z.optional(z.nullable(Timestamp)),
  /** How far the export has come: `sequence` of the last entry that was written. Absent before the first. */
  last_exported_cursor: z.optional(z.nullable(z.string())),
  /** When entries were last written. */
  last_success_at: z.optional(z.nullable(Timestamp)),
  /** When it looks for entries again, or tries again; absent while it is paused. */
  next_attempt_at: z.optional(z.nullable(Timestamp)),
}));
/** A bucket that the audit log is written to as it grows. */
export interface AuditLogExportDestination extends z.output<typeof AuditLogExportDestinationShape> {}
export const AuditLogExportDestination: Schema<AuditLogExportDestination> = AuditLogExportDestinationShape;

export const CreateAuditLogExportDestinationShape = lazyObject(() => ({
  /** What kind of store it is. */
  type: z.enum(["s3"]),
  /** How entries are to be written. */
  format: z.enum(["jsonl.gz"]),
  /** Name of the bucket, 3 to 63 lower-case letters, digits, hyphens and dots. */
  bucket: BucketName,
  /** What the names of all objects are to begin with, at most 512 characters: letters, digits, `_`, `-`, `=` and `.` between slashes; empty for nothing. Ends with a slash where it is to be a folder. */
  prefix: KeyPrefix,
  /** The bucket's region, `eu-central-1`. */
  region: AwsRegion,
  /** The role that is taken on to write, `arn:aws:iam::123456789012:role/audit`. Its trust policy names `kernel_role_arn` and asks for `external_id`; it may `s3:PutObject`. */
  role_arn: RoleArn,
  /** The KMS key that objects are to be encrypted with: an id, an ARN or an alias; the bucket's default when absent. */
  kms_key_id: z.optional(KmsKey),
}));
/** What `auditLogs.exportDestinations.create` takes. */
export interface CreateAuditLogExportDestination extends z.input<typeof CreateAuditLogExportDestinationShape> {}
export const CreateAuditLogExportDestination: Schema<
  z.output<typeof CreateAuditLogExportDestinationShape>,
  CreateAuditLogExportDestination
> = CreateAuditLogExportDestinationShape;

export const UpdateAuditLogExportDestinationShape = lazyObject(() => ({
  /** Name of the bucket, 3 to 63 lower-case letters, digits, hyphens and dots. The export goes on there with the entries that come next; what was written stays where it is. */
  bucket: z.optional(BucketName),
  /** What the names of all objects are to begin with, at most 512 characters: letters, digits, `_`, `-`, `=` and `.` between slashes; empty for nothing. */
  prefix: z.optional(KeyPrefix),
  /** The bucket's region, `eu-central-1`. */
  region: z.optional(AwsRegion),
  /** The role that is taken on to write, `arn:aws:iam::123456789012:role/audit`. */
  role_arn: z.optional(RoleArn),
  /** The KMS key that objects are to be encrypted with: an id, an ARN or an alias; `""` goes back to the bucket's default. */
  kms_key_id: z.optional(KmsKeyOrNone),
  /** `active` begins or goes on exporting, `paused` stops it. */
  status: z.optional(z.enum(["active", "paused"])),
}));
/** What `auditLogs.exportDestinations.update` takes. */
export interface UpdateAuditLogExportDestination extends z.input<typeof UpdateAuditLogExportDestinationShape> {}
export const UpdateAuditLogExportDestination: Schema<
  z.output<typeof UpdateAuditLogExportDestinationShape>,
  UpdateAuditLogExportDestination
> = UpdateAuditLogExportDestinationShape;

export const ListAuditLogExportDestinationsShape = lazyObject(() => ({ ...pageFields }));
/** What `auditLogs.exportDestinations.list` takes. */
export interface ListAuditLogExportDestinations extends z.input<typeof ListAuditLogExportDestinationsShape> {}
export const ListAuditLogExportDestinations: Schema<
  z.output<typeof ListAuditLogExportDestinationsShape>,
  ListAuditLogExportDestinations
> = ListAuditLogExportDestinationsShape;

export const AuditLogExportDestinationTestResultShape = lazyObject(() => ({
  /** Whether an object could be written. */
  success: z.boolean(),
  /** How far the test came; `complete` when all went well. */
  stage: openEnum("assume_role", "put_object", "complete"),
  /** What it failed with. */
  error: z.optional(
    z.nullable(
      z.object({
        /** Which step failed. */
        code: openEnum("assume_role_failed", "put_object_failed"),
        /** What the store said. */
        message: z.string(),
      }),
    ),
  ),
}));
/** What a test of an export destination found. */
export interface AuditLogExportDestinationTestResult extends z.output<typeof AuditLogExportDestinationTestResultShape> {}
export const AuditLogExportDestinationTestResult: Schema<AuditLogExportDestinationTestResult> = AuditLogExportDestinationTestResultShape;
