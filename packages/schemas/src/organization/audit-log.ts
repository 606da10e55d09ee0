import * as z from "zod/mini";
import { AwsRegion, BucketName, KeyPrefix, KmsKey, KmsKeyOrNone, RoleArn } from "../base/aws-names.ts";
import { Moment, pageFields, Timestamp } from "../base/common.ts";
import { checked, lazyObject, openEnum } from "../base/schema.ts";

/** One request in the audit log. */
export interface AuditLogEntry extends z.output<typeof AuditLogEntry> {}
export const AuditLogEntry = lazyObject(() => ({
  /** When the request arrived. */
  timestamp: Timestamp,
  /** How the caller authenticated: `api_key`, `session_token`, `live_view`, `sign_in_page`, `dashboard`, `oauth`; `service` = the service itself. */
  auth_strategy: z.string(),
  /** Id of the key, of the user, or of the live-view link or handoff; empty if unknown. */
  user_id: z.string(),
  /** The person's email address, or the label of a live-view link or handoff; otherwise empty. */
  email: z.string(),
  /** HTTP status of the answer. */
  status: z.int(),
  /** HTTP method. */
  method: z.string(),
  /** The requested path, without its query. */
  path: z.string(),
  /** The operation's path with placeholders, `/profiles/{id_or_name}`; empty for an unknown path. */
  route: z.string(),
  /** The host that the request was sent to. */
  domain: z.string(),
  /** Milliseconds until the answer was sent. */
  duration_ms: z.int(),
  /** IP address of the client. */
  client_ip: z.string(),
  /** The `User-Agent` of the request. */
  user_agent: z.string(),
  /** Stable identifier of the entry. */
  event_id: z.optional(z.string()),
  /** Number of the entry, starting at 1, without gaps. */
  sequence: z.optional(z.int()),
  /** The `X-Request-Id` of the answer. */
  request_id: z.optional(z.string()),
  /** The operation's name, `profiles.update`. */
  operation: z.optional(z.string()),
  /** The project that the request acted in. */
  project_id: z.optional(z.string()),
}));

const filterFields = () => ({
  /** From this moment on, ISO 8601: `2026-01-31T00:00:00Z`. */
  start: Moment,
  /** Until before this moment, later than `start` by at most 30 days. */
  end: Moment,
  /** Only callers that authenticated this way: `api_key`, `session_token`, `live_view`, `sign_in_page`, `dashboard`, `oauth`; `service` = the service itself. */
  auth_strategy: z.optional(z.string()),
  /** Only requests to this part of the service, the first word of an operation's name: `browsers`, `apiKeys`. */
  service: z.optional(z.string()),
  /** Only this HTTP method. */
  method: z.optional(z.string()),
  /** All HTTP methods but these, at most 10. */
  exclude_method: z.optional(checked(z.array(z.string()), z.maxLength(10))),
  /** Part of a path, a user's id or address, a client's IP address or a status. */
  search: z.optional(z.string()),
  /** Ids of users, at most 100. Their entries are listed in addition to the matches of `search`. */
  search_user_id: z.optional(checked(z.array(z.string()), z.maxLength(100))),
});

const longestWindowMs = 30 * 24 * 60 * 60 * 1000;
const windowMs = (query: { readonly start: string; readonly end: string }): number =>
  Date.parse(query.end) - Date.parse(query.start);
const notAfterStart = { path: ["end"], error: "must be later than start" };
const tooLong = { path: ["end"], error: "must be at most 30 days after start" };

/** Input of `auditLogs.list`. */
export interface ListAuditLogs extends z.input<typeof ListAuditLogs> {}
export const ListAuditLogs = z.lazy(() =>
  checked(
    z.object({
      ...filterFields(),
      /** Entries on a page, 1 to 100. */
      limit: z._default(checked(z.int(), z.minimum(1), z.maximum(100)), 100),
      /** Token of the page, from the previous page; absent for the first. */
      page_token: z.optional(z.string()),
    }),
    z.refine((query) => windowMs(query) > 0, notAfterStart),
    z.refine((query) => windowMs(query) <= longestWindowMs, tooLong),
  ),
);

/** Input of `auditLogs.exportChunk`. */
export interface ExportAuditLogs extends z.input<typeof ExportAuditLogs> {}
export const ExportAuditLogs = z.lazy(() =>
  checked(
    z.object({
      ...filterFields(),
      /** Token of the chunk, from the previous chunk; absent for the first. */
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

/** Input of `auditLogs.verify`. */
export interface VerifyAuditLogs extends z.input<typeof VerifyAuditLogs> {}
export const VerifyAuditLogs = lazyObject(() => ({
  /** The `head` of an earlier answer, `1042:9f2c…`: checks that this entry is unchanged in the log. */
  known_head: z.optional(
    checked(z.string(), z.regex(/^[1-9]\d{0,14}:[0-9a-f]{64}$/, "the head that an earlier call gave, SEQUENCE:HASH")),
  ),
}));

/** Whether the audit log is whole. */
export interface AuditLogVerification extends z.output<typeof AuditLogVerification> {}
export const AuditLogVerification = lazyObject(() => ({
  /** Whether every entry is as it was written, and none is missing. */
  valid: z.boolean(),
  /** Number of checked entries. */
  entries: z.int(),
  /** The newest entry's sequence and hash, `1042:9f2c…`, to store elsewhere and pass as `known_head` later; empty while the log is empty. */
  head: z.string(),
  /** The first thing that is wrong; absent when nothing is. */
  problem: z.optional(
    z.object({
      /** `changed`: an entry is not as it was written. `missing`: entries were removed. `head`: the end of the log does not match the seal. `truncated`: the log lacks the newest entry that this server has seen. `known_head`: the log lacks the given entry. */
      kind: openEnum("changed", "missing", "head", "truncated", "known_head"),
      /** Sequence of the entry concerned. */
      sequence: z.int(),
      /** The problem, for people. */
      message: z.string(),
    }),
  ),
}));

/** A bucket that the audit log is written to as it grows. */
export interface AuditLogExportDestination extends z.output<typeof AuditLogExportDestination> {}
export const AuditLogExportDestination = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** Kind of store. */
  type: openEnum("s3"),
  /** How entries are written. */
  format: openEnum("jsonl.gz"),
  /** Name of the bucket. */
  bucket: z.string(),
  /** Prefix of all object names. */
  prefix: z.string(),
  /** The bucket's region. */
  region: z.string(),
  /** The role that the service assumes to write. */
  role_arn: z.string(),
  /** The external id (`sts:ExternalId`) that the role's trust policy must require. The service generates it, and it never changes. */
  external_id: z.string(),
  /** The service's own role or user, which the trust policy must name; empty where the service has none any more. */
  kernel_role_arn: z.string(),
  /** The key that objects are encrypted with; absent = the bucket's default. */
  kms_key_id: z.optional(z.string()),
  /** Whether entries are exported now. */
  status: openEnum("active", "paused"),
  /** Failed tries since the last that worked. */
  consecutive_failures: z.int(),
  /** Creation time. */
  created_at: Timestamp,
  /** When it was last changed. */
  updated_at: Timestamp,
  /** Error of the last failed attempt; kept after later successes. */
  last_error: z.optional(z.nullable(z.string())),
  /** When that was. */
  last_error_at: z.optional(z.nullable(Timestamp)),
  /** How far the export has come: `sequence` of the last entry that was written. Absent before the first. */
  last_exported_cursor: z.optional(z.nullable(z.string())),
  /** When entries were last written. */
  last_success_at: z.optional(z.nullable(Timestamp)),
  /** Time of the next export or retry; absent while the destination is paused. */
  next_attempt_at: z.optional(z.nullable(Timestamp)),
}));

/** Input of `auditLogs.exportDestinations.create`. */
export interface CreateAuditLogExportDestination extends z.input<typeof CreateAuditLogExportDestination> {}
export const CreateAuditLogExportDestination = lazyObject(() => ({
  /** Kind of store. */
  type: z.enum(["s3"]),
  /** How entries are to be written. */
  format: z.enum(["jsonl.gz"]),
  /** Name of the bucket, 3 to 63 lower-case letters, digits, hyphens and dots. */
  bucket: BucketName,
  /** Prefix of all object names, at most 512 characters: letters, digits, `_`, `-`, `=` and `.` between slashes; empty for nothing. Ends with a slash where it is to be a folder. */
  prefix: KeyPrefix,
  /** The bucket's region, `eu-central-1`. */
  region: AwsRegion,
  /** The role to assume, `arn:aws:iam::123456789012:role/audit`. It needs `s3:PutObject` and a trust policy that names `kernel_role_arn` and requires `external_id`. */
  role_arn: RoleArn,
  /** The KMS key that objects are to be encrypted with: an id, an ARN or an alias; the bucket's default when absent. */
  kms_key_id: z.optional(KmsKey),
}));

/** Input of `auditLogs.exportDestinations.update`. */
export interface UpdateAuditLogExportDestination extends z.input<typeof UpdateAuditLogExportDestination> {}
export const UpdateAuditLogExportDestination = lazyObject(() => ({
  /** Name of the bucket, 3 to 63 lower-case letters, digits, hyphens and dots. New entries are exported there; existing objects stay in the old bucket. */
  bucket: z.optional(BucketName),
  /** Prefix of all object names, at most 512 characters: letters, digits, `_`, `-`, `=` and `.` between slashes; empty for nothing. */
  prefix: z.optional(KeyPrefix),
  /** The bucket's region, `eu-central-1`. */
  region: z.optional(AwsRegion),
  /** The role that is taken on to write, `arn:aws:iam::123456789012:role/audit`. */
  role_arn: z.optional(RoleArn),
  /** The KMS key that objects are to be encrypted with: an id, an ARN or an alias; `""` goes back to the bucket's default. */
  kms_key_id: z.optional(KmsKeyOrNone),
  /** `active` starts or continues the export, `paused` stops it. */
  status: z.optional(z.enum(["active", "paused"])),
}));

/** Input of `auditLogs.exportDestinations.list`. */
export interface ListAuditLogExportDestinations extends z.input<typeof ListAuditLogExportDestinations> {}
export const ListAuditLogExportDestinations = lazyObject(() => ({ ...pageFields }));

/** Result of a test of an export destination. */
export interface AuditLogExportDestinationTestResult extends z.output<typeof AuditLogExportDestinationTestResult> {}
export const AuditLogExportDestinationTestResult = lazyObject(() => ({
  /** Whether an object could be written. */
  success: z.boolean(),
  /** How far the test came; `complete` when all went well. */
  stage: openEnum("assume_role", "put_object", "complete"),
  /** The error. */
  error: z.optional(
    z.nullable(
      z.object({
        /** Which step failed. */
        code: openEnum("assume_role_failed", "put_object_failed"),
        /** Message of the store. */
        message: z.string(),
      }),
    ),
  ),
}));
