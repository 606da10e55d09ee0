import * as z from "zod/mini";
import { Timestamp } from "./common.ts";
import { checked, lazyObject, type Schema } from "./schema.ts";

export const StartReplayShape = lazyObject(() => ({
  /** Frames per second, 1 to 60; the service chooses when absent. */
  framerate: z.optional(checked(z.int(), z.minimum(1), z.maximum(60))),
  /** Seconds until the recording stops by itself, at least 1; it goes on to the session's end when absent. */
  max_duration_in_seconds: z.optional(checked(z.int(), z.minimum(1))),
  /** Record sound too. */
  record_audio: z._default(z.boolean(), false),
}));
/** What `browsers.replays.start` takes. */
export interface StartReplay extends z.input<typeof StartReplayShape> {}
export const StartReplay: Schema<z.output<typeof StartReplayShape>, StartReplay> = StartReplayShape;

export const MarkReplayShape = lazyObject(() => ({
  /** What begins there: 1 to 200 characters. */
  title: checked(z.string(), z.minLength(1), z.maxLength(200)),
  /** Seconds from the recording's start; the present moment when absent, or the end of a recording that has ended. */
  offset_seconds: z.optional(checked(z.number(), z.minimum(0), z.maximum(31_536_000))),
}));
/** What `browsers.replays.mark` takes. */
export interface MarkReplay extends z.input<typeof MarkReplayShape> {}
export const MarkReplay: Schema<z.output<typeof MarkReplayShape>, MarkReplay> = MarkReplayShape;

export const ReplayMarkShape = lazyObject(() => ({
  /** What begins there. */
  title: z.string(),
  /** Seconds from the recording's start. */
  offset_seconds: z.number(),
}));
/** A place in a recording that has a name: a chapter, up to the next one. */
export interface ReplayMark extends z.output<typeof ReplayMarkShape> {}
export const ReplayMark: Schema<ReplayMark> = ReplayMarkShape;

const ReplayClockShape = lazyObject(() => ({
  /** When the film's time is 0, on the clock of telemetry's `ts`: microseconds since 1970. */
  started_ts: z.int(),
}));

export const ReplayShape = lazyObject(() => ({
  /** Names the recording in the other operations. */
  replay_id: z.string(),
  /** When it began; `null` before its first frame. */
  started_at: z.optional(z.nullable(Timestamp)),
  /** When it ended; `null` while it goes on. */
  finished_at: z.optional(z.nullable(Timestamp)),
  /** Why there is no film, or not all of it; absent while it goes on, and when it is whole. */
  failure_reason: z.optional(z.string()),
  /** Page that plays it; it opens without a key for whoever has it. */
  replay_view_url: z.optional(z.string()),
  /** Lines up with telemetry: an event is seen `(ts - started_ts) / 1_000_000` seconds into the film. */
  clock: z.optional(ReplayClockShape),
  /** Its chapters, in the order of time. */
  marks: z.optional(z.array(ReplayMarkShape)),
}));
/** A recording of a session's screen. */
export interface Replay extends z.output<typeof ReplayShape> {}
export const Replay: Schema<Replay> = ReplayShape;
