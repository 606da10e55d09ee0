import type { ErrorCode, ErrorDetail } from "@shoal/schemas";

/** An error answer as data. `ServiceError.of` of `@shoal/router` throws it. */
export interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  /** What failed, without the field and the hint. */
  readonly problem: string;
  /** Path of the invalid field: `body.viewport.height`. */
  readonly field?: string | undefined;
  /** The limit that the value exceeds, or the accepted values. */
  readonly limit?: number | string | undefined;
  /** The next step. It repeats no input. */
  readonly hint?: string | undefined;
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  readonly details?: readonly ErrorDetail[];
  /** Further fields of the body. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** 400 for a value that the schema accepts and the service does not. */
export function invalid(
  field: string,
  problem: string,
  data: Pick<Refusal, "limit" | "hint"> = {},
): Refusal & { readonly field: string } {
  return { status: 400, code: "bad_request", problem, field, ...data };
}

/** 404 for a resource that the caller cannot see. */
export function notFound(problem: string, hint: string): Refusal {
  return { status: 404, code: "not_found", problem, hint };
}

/** 409 for a name that another resource has. */
export function nameTaken(problem: string, hint: string): Refusal {
  return { status: 409, code: "name_taken", problem, hint };
}

/** 400 for a text that has no UTF-8 form. */
export function brokenUnicode(field: string): Refusal {
  return invalid(field, "must be valid Unicode, without half surrogate pairs");
}

/** Returns the 400 for a text that cannot be stored. */
export function unstorable(field: string, text: string | undefined): Refusal | undefined {
  if (text === undefined) return undefined;
  if (text.includes("\0")) return containsNul(field);
  return text.isWellFormed() ? undefined : brokenUnicode(field);
}

/** 400 for a text that PostgreSQL and the operating system cannot store. */
export function containsNul(field: string): Refusal {
  return invalid(field, "must not contain a NUL character");
}
