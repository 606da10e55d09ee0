import * as z from "zod/mini";
import { Timestamp } from "./common.ts";
import { ErrorBody } from "./error.ts";
import { checked, lazyObject, type Schema } from "./schema.ts";

/** Where a log begins: a moment, `2026-01-31`, `2026-01-31T12:00` or `2026-01-31T12:00:00.5Z` (UTC unless it says otherwise), or how long ago, `5m` or `1h30m` (units `ns us ms s m h`). */
export const Since: Schema<string> = z.lazy(() =>
  checked(
    z.string(),
    z.maxLength(64),
    z.regex(
      /^(?:(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+|\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?)$/,
      "expected a moment, 2026-01-31T12:00:00Z, or a duration, 5m",
    ),
  ),
);

export const LogEventShape = lazyObject(() => ({
  /** Always `log`. */
  event: z.literal("log"),
  /** The text, without its line end. */
  message: z.string(),
  /** When it was written; of a file, whose lines do not tell, when it was last written to. */
  timestamp: Timestamp,
}));
/** A line of a log. */
export interface LogEvent extends z.output<typeof LogEventShape> {}
export const LogEvent: Schema<LogEvent> = LogEventShape;

export const ErrorEventShape = lazyObject(() => ({
  /** Always `error`. */
  event: z.literal("error"),
  /** What went wrong. */
  error: ErrorBody,
  /** When it did. */
  timestamp: Timestamp,
}));
/** Something went wrong while events were streamed. The stream may go on after it. */
export interface ErrorEvent extends z.output<typeof ErrorEventShape> {}
export const ErrorEvent: Schema<ErrorEvent> = ErrorEventShape;

export const HeartbeatEventShape = lazyObject(() => ({
  /** Always `sse_heartbeat`. */
  event: z.literal("sse_heartbeat"),
  /** When it was sent. */
  timestamp: Timestamp,
}));
/** Nothing has happened; the connection is alive. */
export interface HeartbeatEvent extends z.output<typeof HeartbeatEventShape> {}
export const HeartbeatEvent: Schema<HeartbeatEvent> = HeartbeatEventShape;
