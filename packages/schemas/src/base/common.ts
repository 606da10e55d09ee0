import * as z from "zod/mini";
import { maxEntries } from "./rules.ts";
import { checked, type Schema } from "./schema.ts";

/** A moment, ISO 8601: `2026-01-31T12:00:00.000Z`. Shoal sends UTC; other services of the same wire may send an offset. */
export const Timestamp: Schema<string> = z.lazy(() => z.iso.datetime({ offset: true }));

const firstMs = Date.parse("0001-01-01T00:00:00.000Z");
const lastMs = Date.parse("9999-12-31T23:59:59.999Z");

/** PostgreSQL and JavaScript write the moments of other years in different ways. */
const withinYears = () =>
  z.refine<string>((text) => {
    const ms = Date.parse(text);
    // Other checks report an invalid date.
    return Number.isNaN(ms) || (ms >= firstMs && ms <= lastMs);
  }, "must be in the years 1 to 9999, in UTC");

/** A moment with its offset from UTC, ISO 8601, in a request: in the years 1 to 9999, in UTC. */
export const Moment: Schema<string> = z.lazy(() => checked(z.iso.datetime({ offset: true }), withinYears()));

/** A day in UTC, ISO 8601: `2026-01-31`, in the years 1 to 9999. */
export const Day: Schema<string> = z.lazy(() => checked(z.iso.date(), withinYears()));

/** An identifier from the service: a letter and 23 letters or digits. */
export const Id: Schema<string> = z.lazy(() => checked(z.string(), z.minLength(1), z.maxLength(255)));

/** A name for people: 1 to 255 characters, none of them a control character; not `.` or `..`. */
export const DisplayName: Schema<string> = z.lazy(() =>
  checked(
    z.string(),
    z.minLength(1),
    z.maxLength(255),
    z.regex(
      // oxlint-disable-next-line no-control-regex -- they are what it refuses
      /^(?:[^\x00-\x1f\x7f-\x9f.][^\x00-\x1f\x7f-\x9f]*|\.[^\x00-\x1f\x7f-\x9f.][^\x00-\x1f\x7f-\x9f]*|\.\.[^\x00-\x1f\x7f-\x9f]+)?$/u,
      'must not hold control characters, and not be "." or ".."',
    ),
  ),
);

/**
 * Letters, digits, dots, underscores and hyphens, or empty. `.` and `..` are steps of a path. Without lookahead, which the
 * regular expressions of Go and Rust do not have.
 */
export const slugText = () =>
  z.regex(
    /^(?:[a-zA-Z0-9_-][a-zA-Z0-9._-]*|\.[a-zA-Z0-9_-][a-zA-Z0-9._-]*|\.\.[a-zA-Z0-9._-]+)?$/,
    'letters, digits, dots, underscores and hyphens only, and not "." or ".."',
  );

/** A name that fits into a path or a file name: 1 to 255 letters, digits, dots, underscores and hyphens; not `.` or `..`. */
export const SlugName: Schema<string> = z.lazy(() => checked(z.string(), z.minLength(1), z.maxLength(255), slugText()));

/** Up to 50 labels of the user's own. Keys have 1 to 128 characters, values 0 to 256, of `A-Z a-z 0-9 space _ . : / = + @ -`. */
export const Tags: Schema<Record<string, string>> = z.lazy(() =>
  checked(
    z.record(
      checked(z.string(), z.minLength(1), z.maxLength(128), z.regex(/^[A-Za-z0-9 _.:/=+@-]+$/)),
      checked(z.string(), z.maxLength(256), z.regex(/^[A-Za-z0-9 _.:/=+@-]*$/)),
    ),
    maxEntries(50, "tags"),
  ),
);
export type Tags = Record<string, string>;

/** Query fields of every list that is paged by offset. */
export const pageFields = {
  /** Items on a page, 1 to 100. */
  limit: z.lazy(() => z._default(checked(z.int(), z.minimum(1), z.maximum(100)), 20)),
  /** Items to skip. */
  offset: z.lazy(() => z._default(checked(z.int(), z.minimum(0), z.maximum(2_147_483_647)), 0)),
};

/** Rows of a list: active, deleted, or both. */
export const DeletionStatus = z.lazy(() => z.enum(["active", "deleted", "all"]));
export type DeletionStatus = z.output<typeof DeletionStatus>;
