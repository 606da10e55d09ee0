import * as z from "zod/mini";
import { lazyObject } from "./schema.ts";

/** Codes that Shoal sends. `error-code-table.ts` explains each. A newer server may send others. */
export const errorCodes = [
  "ambiguous_target",
  "audit_export_not_available",
  "bad_gateway",
  "bad_request",
  "blob_store_unavailable",
  "browser_not_running",
  "call_cut_off",
  "capacity_exhausted",
  "conflict",
  "database_unavailable",
  "dialog_open",
  "directory_busy",
  "element_not_found",
  "encryption_key_mismatch",
  "forbidden",
  "handoff_active",
  "idempotency_conflict",
  "insufficient_scope",
  "insufficient_storage",
  "internal_error",
  "invalid_browser_location",
  "invalid_input",
  "last_active_project",
  "link_expired",
  "method_not_allowed",
  "name_taken",
  "navigation_failed",
  "not_a_directory",
  "not_a_file",
  "not_actionable",
  "not_found",
  "not_implemented",
  "not_ready",
  "outcome_unknown",
  "overloaded",
  "page_not_responding",
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
  "resource_in_use",
  "server_unreachable",
  "shutting_down",
  "snapshot_incompatible",
  "stale_interaction",
  "stale_network",
  "stale_reference",
  "too_many_processes",
  "too_many_requests",
  "too_many_watches",
  "tool_failed",
  "tool_not_found",
  "tool_timeout",
  "unauthorized",
  "unsafe_archive",
  "unsupported_media_type",
  "wait_timeout",
] as const;

/** A code of {@link errorCodes}. */
export type KnownErrorCode = (typeof errorCodes)[number];

/** A code of {@link errorCodes}, or a newer code. */
export type ErrorCode = KnownErrorCode | (string & {});

/** The parts of an error's message as data, for programs that write their own text. */
const errorData = () => ({
  /** Path of the invalid field: `body.viewport.height`. The message starts with it and a colon. */
  field: z.optional(z.string()),
  /** The limit that the value exceeds, or the values that the field accepts. */
  limit: z.optional(z.union([z.number(), z.string()])),
  /** The next step. The message ends with it. */
  hint: z.optional(z.string()),
});

/** One of several causes of an error. */
export interface ErrorDetail extends z.output<typeof ErrorDetail> {}
export const ErrorDetail = lazyObject(() => ({
  /** A lower-level code, `invalid_input` for a field that does not fit. */
  code: z.optional(z.string()),
  /** The problem, starting with the field's path: `body.viewport.height: expected a number`. */
  message: z.optional(z.string()),
  ...errorData(),
}));

/** The fields of every error body, for bodies with more fields. */
export const errorFields = () => ({
  /** Stable, for programs: `not_found`, `name_taken`, … */
  code: z.string(),
  /** For people: what failed, the value or field, and what to do next. */
  message: z.string(),
  ...errorData(),
  /** Every cause, if there are several. */
  details: z.optional(z.array(ErrorDetail)),
  /** The underlying error, if there is one. */
  inner_error: z.optional(ErrorDetail),
});
/** The body of a 429. A limit on resources adds the limit and its use; a rate limit has only the common fields. */
export interface LimitError extends z.output<typeof LimitError> {}
export const LimitError = lazyObject(() => ({
  ...errorFields(),
  /** The limit. */
  limit: z.optional(z.int()),
  /** The number in use. */
  used: z.optional(z.int()),
  /** The number still available. */
  remaining: z.optional(z.int()),
}));

/** The body of every answer with a status of 400 or above. */
export interface ErrorBody extends z.output<typeof ErrorBody> {}
export const ErrorBody = lazyObject(errorFields);
