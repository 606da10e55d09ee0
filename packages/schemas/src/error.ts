import * as z from "zod/mini";
import { lazyObject, type Schema } from "./schema.ts";

/** Codes that Shoal itself sends; `error-code-table.ts` says of each what it means and what to do. A newer server may send others. */
export const errorCodes = [
  "audit_export_not_available",
  "bad_gateway",
  "bad_request",
  "blob_store_unavailable",
  "browser_not_running",
  "call_cut_off",
  "capacity_exhausted",
  "conflict",
  "database_unavailable",
  "directory_busy",
  "forbidden",
  "idempotency_conflict",
  "insufficient_storage",
  "internal_error",
  "invalid_input",
  "last_active_project",
  "method_not_allowed",
  "name_taken",
  "not_a_directory",
  "not_a_file",
  "not_found",
  "not_implemented",
  "not_ready",
  "overloaded",
  "payload_too_large",
  "permission_denied",
  "pool_in_use",
  "process_ended",
  "profile_in_use",
  "project_not_empty",
  "project_not_found",
  "protected_path",
  "proxy_check_failed",
  "proxy_not_available",
  "rate_limited",
  "server_unreachable",
  "shutting_down",
  "too_many_processes",
  "too_many_requests",
  "too_many_watches",
  "unauthorized",
  "unsafe_archive",
  "unsupported_media_type",
] as const;

/** A code of {@link errorCodes}. */
export type KnownErrorCode = (typeof errorCodes)[number];

/** A code of {@link errorCodes}, or one that this version does not know. */
export type ErrorCode = KnownErrorCode | (string & {});

export const ErrorDetailShape = lazyObject(() => ({
  /** A lower-level code, `invalid_input` for a field that does not fit. */
  code: z.optional(z.string()),
  /** What is wrong, beginning with the field's path: `body.viewport.height: expected a number`. */
  message: z.optional(z.string()),
}));
/** One of several causes of an error. */
export interface ErrorDetail extends z.output<typeof ErrorDetailShape> {}
export const ErrorDetail: Schema<ErrorDetail> = ErrorDetailShape;

/** What every error body holds, for those that say more. */
export const errorFields = () => ({
  /** Stable, for programs: `not_found`, `name_taken`, … */
  code: z.string(),
  /** For people: what failed, on what, and what to do. */
  message: z.string(),
  /** Every cause, where there are several. */
  details: z.optional(z.array(ErrorDetail)),
  /** The error beneath this one, where there is one. */
  inner_error: z.optional(ErrorDetail),
});
export const LimitErrorShape = lazyObject(() => ({
  ...errorFields(),
  /** How many there may be at once. */
  limit: z.optional(z.int()),
  /** How many there are. */
  used: z.optional(z.int()),
  /** How many more there may be. */
  remaining: z.optional(z.int()),
}));
/** The body of a 429: a limit that was reached says how far it goes; one on the number of requests has the common fields alone. */
export interface LimitError extends z.output<typeof LimitErrorShape> {}
export const LimitError: Schema<LimitError> = LimitErrorShape;

export const ErrorBodyShape = lazyObject(errorFields);
/** The body of every answer with a status of 400 or above. */
export interface ErrorBody extends z.output<typeof ErrorBodyShape> {}
export const ErrorBody: Schema<ErrorBody> = ErrorBodyShape;
