import * as z from "zod/mini";
import { Id, pageFields, Timestamp } from "../base/common.ts";
import { checked, lazyObject, openEnum } from "../base/schema.ts";

/** What to record of a session from its start. */
export interface BrowserRecordingConfig extends z.input<typeof BrowserRecordingConfig> {}
export const BrowserRecordingConfig = lazyObject(() => ({
  /** Record a video from the start of the session. `true`: the session does not start if it cannot be recorded. `false`: not even if that is the default. When absent: `default_recording` of the project or the service. */
  video: z.optional(z.boolean()),
  /** Keep the answers that its browser gets, up to 256 MiB, as a network recording that `replay` can play. */
  network: z.optional(z.boolean()),
  /** Seed of `Math.random` in each document and worker, from 1 to 2147483647. Replays of the recording use it too, so their pages request the same addresses. Random as usual when absent. Cryptographic values are never seeded. */
  seed: z.optional(checked(z.int(), z.minimum(1), z.maximum(2_147_483_647))),
}));

/** Whether a session is recorded as a video from its start. */
export interface BrowserVideoConfig extends z.output<typeof BrowserVideoConfig> {}
export const BrowserVideoConfig = lazyObject(() => ({
  /** `true` or `false` as stated; absent when `default_recording` of the project or the service decides. */
  video: z.optional(z.boolean()),
}));

/** A network recording that answers the requests of a session. */
export interface BrowserReplayConfig extends z.output<typeof BrowserReplayConfig> {}
export const BrowserReplayConfig = lazyObject(() => ({
  /** Id of the network recording. */
  recording: Id,
  /** For requests that the recording does not have. `fail` (default): the browser gets 504 with a sentence that names the request, and nothing leaves the session, also no request of a program. `pass`: they go to the network, within the rules of the session. */
  on_missing: z._default(z.enum(["fail", "pass"]), "fail"),
  /** Time of pages and workers. `real` (default): that of the server. `recorded`: it starts when the recording started, and continues at its usual pace. Requests then find their answers also if times in their addresses differ within the recording. */
  clock: z._default(z.enum(["real", "recorded"]), "real"),
}));

/** The network recording that answers the requests of a session. */
export interface BrowserReplay extends z.output<typeof BrowserReplay> {}
export const BrowserReplay = lazyObject(() => ({
  /** Id of the network recording. */
  recording: z.string(),
  /** What happens to requests that it does not have. */
  on_missing: openEnum("fail", "pass"),
  /** Time of its pages and workers; absent in sessions of earlier versions. */
  clock: z.optional(openEnum("real", "recorded")),
}));

/** The answers that a browser got, in their order. They contain cookies and tokens, and no operation returns them. */
export interface NetworkRecording extends z.output<typeof NetworkRecording> {}
export const NetworkRecording = lazyObject(() => ({
  /** Stable identifier. */
  id: Id,
  /** The recorded session. */
  session_id: z.string(),
  /** `recording` until the session has ended and everything is stored; then `complete`, or `failed`: it cannot be replayed. */
  status: openEnum("recording", "complete", "failed"),
  /** Bytes of the recording; 0 while it runs. */
  size_bytes: z.int(),
  /** Recorded requests; 0 while it runs. */
  requests: z.int(),
  /** Requests whose answer exceeded a limit and is missing. */
  left_out: z.int(),
  /** Whether the whole recording reached a limit: 256 MiB, 20000 requests, 16 MiB of requests and headers, or 200000 chunks. */
  truncated: z.boolean(),
  /** Seed of `Math.random`, also in replays; absent without one. */
  seed: z.optional(z.int()),
  /** When the session started. */
  created_at: Timestamp,
  /** When it was stored; absent while it runs. */
  finished_at: z.optional(Timestamp),
  /** When it will be deleted; absent while it runs. */
  expires_at: z.optional(Timestamp),
}));

/** Query of `networkRecordings.list`. */
export interface ListNetworkRecordings extends z.input<typeof ListNetworkRecordings> {}
export const ListNetworkRecordings = lazyObject(() => ({
  ...pageFields,
  /** Only the recording of this session. */
  session_id: z.optional(z.string()),
}));
