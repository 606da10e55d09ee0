import * as z from "zod/mini";
import { Timestamp } from "../base/common.ts";
import { checked, lazyObject } from "../base/schema.ts";

/** Input of `browsers.replays.start`. */
export interface StartReplay extends z.input<typeof StartReplay> {}
export const StartReplay = lazyObject(() => ({
  /** Frames per second, 1 to 60; the service chooses when absent. */
  framerate: z.optional(checked(z.int(), z.minimum(1), z.maximum(60))),
  /** Seconds until the recording stops automatically, at least 1. Default: the end of the session. */
  max_duration_in_seconds: z.optional(checked(z.int(), z.minimum(1), z.maximum(2_147_483_647))),
  /** Record sound too. */
  record_audio: z._default(z.boolean(), false),
}));

/** Input of `browsers.replays.mark`. */
export interface MarkReplay extends z.input<typeof MarkReplay> {}
export const MarkReplay = lazyObject(() => ({
  /** Title of the chapter: 1 to 200 characters. */
  title: checked(z.string(), z.minLength(1), z.maxLength(200)),
  /** Seconds from the recording's start; the present moment when absent, or the end of a recording that has ended. */
  offset_seconds: z.optional(checked(z.number(), z.minimum(0), z.maximum(31_536_000))),
}));

/** A place in a recording that has a name: a chapter, up to the next one. */
export interface ReplayMark extends z.output<typeof ReplayMark> {}
export const ReplayMark = lazyObject(() => ({
  /** Title of the chapter. */
  title: z.string(),
  /** Seconds from the recording's start. */
  offset_seconds: z.number(),
}));

const ReplayClock = lazyObject(() => ({
  /** When the film's time is 0, on the clock of telemetry's `ts`: microseconds since 1970. */
  started_ts: z.int(),
}));

/** A recording of a session's screen. */
export interface Replay extends z.output<typeof Replay> {}
export const Replay = lazyObject(() => ({
  /** Names the recording in the other operations. */
  replay_id: z.string(),
  /** When it began; `null` before its first frame. */
  started_at: z.optional(z.nullable(Timestamp)),
  /** End of the recording; `null` while it runs. */
  finished_at: z.optional(z.nullable(Timestamp)),
  /** Whether the service started it because of `default_recording`. `browsers.replays.stop` refuses it, because others may need it as evidence. Specific to Shoal. */
  by_default: z.optional(z.boolean()),
  /** Why the video is missing or incomplete; absent while it is being recorded and when it is complete. */
  failure_reason: z.optional(z.string()),
  /** Page that plays it. Anyone with this URL can watch it. */
  replay_view_url: z.optional(z.string()),
  /** Lines up with telemetry: an event is seen `(ts - started_ts) / 1_000_000` seconds into the film. */
  clock: z.optional(ReplayClock),
  /** Its chapters, in the order of time. */
  marks: z.optional(z.array(ReplayMark)),
}));
