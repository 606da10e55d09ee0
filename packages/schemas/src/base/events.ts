import * as z from "zod/mini";
import { Timestamp } from "./common.ts";
import { ErrorBody } from "./error.ts";
import { checked, lazyObject, openEnum, type Schema } from "./schema.ts";

const moment =
  "(?:(?:\\d+(?:\\.\\d+)?(?:ns|us|µs|ms|s|m|h))+|\\d{4}-\\d\\d-\\d\\d(?:T\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,9})?)?(?:Z|[+-]\\d\\d:\\d\\d)?)?)";
const since = (pattern: string) =>
  checked(
    z.string(),
    z.maxLength(64),
    z.regex(new RegExp(pattern), "expected a moment, 2026-01-31T12:00:00Z, or a duration, 5m"),
  );

/** Where a log begins: a moment, `2026-01-31`, `2026-01-31T12:00` or `2026-01-31T12:00:00.5Z` (UTC unless it says otherwise), or how long ago, `5m` or `1h30m` (units `ns us ms s m h`). */
export const Since: Schema<string> = z.lazy(() => since(`^${moment}$`));
/** Like {@link Since}; empty counts as absent, because the vendor's command sends unset flags as empty values. */
export const OptionalSince: Schema<string> = z.lazy(() => since(`^${moment}?$`));

/** A line of a log. */
export interface LogEvent extends z.output<typeof LogEvent> {}
export const LogEvent = lazyObject(() => ({
  /** Always `log`. */
  event: z.literal("log"),
  /** The text, without its line end. */
  message: z.string(),
  /** For lines of an app: its output, or its build. */
  source: z.optional(openEnum("stdout", "stderr", "build")),
  /** When the line was written. Lines of files have no time, so they show when the file was last modified. */
  timestamp: Timestamp,
}));

/** An error of the stream, which may continue afterwards. */
export interface ErrorEvent extends z.output<typeof ErrorEvent> {}
export const ErrorEvent = lazyObject(() => ({
  /** Always `error`. */
  event: z.literal("error"),
  /** The problem. */
  error: ErrorBody,
  /** When the error occurred. */
  timestamp: Timestamp,
}));

/** Shows that the connection is alive. */
export interface HeartbeatEvent extends z.output<typeof HeartbeatEvent> {}
export const HeartbeatEvent = lazyObject(() => ({
  /** Always `sse_heartbeat`. */
  event: z.literal("sse_heartbeat"),
  /** When it was sent. */
  timestamp: Timestamp,
}));
