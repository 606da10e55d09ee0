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

export const ReplayShape = lazyObject(() => ({
  /** Names the recording in the other operations. */
  replay_id: z.string(),
  /** When it began; `null` before its first frame. */
  started_at: z.optional(z.nullable(Timestamp)),
  /** When it ended; `null` while it goes on. */
  finished_at: z.optional(z.nullable(Timestamp)),
  /** Page that plays it. */
  replay_view_url: z.optional(z.string()),
}));
/** A recording of a session's screen. */
export interface Replay extends z.output<typeof ReplayShape> {}
export const Replay: Schema<Replay> = ReplayShape;
