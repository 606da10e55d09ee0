import type { browserReplays } from "@shoal/contract";
import { type BytesReply, type Handlers, ServiceError, withStatus } from "@shoal/router";
import type { Replays, ReplaysOptions } from "./replays.ts";

/** Loads and starts its parts with the first recording. */
export interface ReplayArea {
  readonly handlers: Handlers<Omit<typeof browserReplays, "markReplay">>;
  /** Streams a recording's file as it grows. @throws {ServiceError} 404. */
  readonly follow: (id: string) => Promise<BytesReply>;
  readonly running: () => Promise<number>;
  readonly across: Replays["across"];
  /** Ends all recordings; resolves when their files are written. */
  readonly close: () => Promise<void>;
}

/** Seconds after which a client should ask for the file again. */
const retryAfterSeconds = 1;

export function replayArea(options: ReplaysOptions): ReplayArea {
  let created: Promise<Replays> | undefined;
  async function load(): Promise<Replays> {
    const { Replays } = await import("./replays.ts");
    return new Replays(options);
  }
  const replays = (): Promise<Replays> => (created ??= load());
  return {
    handlers: {
      async startReplay({ body, signal }) {
        if (body.record_audio)
          throw new ServiceError(501, "not_implemented", "audio recording is not supported", {
            field: "body.record_audio",
            hint: "Omit record_audio, or send false.",
          });
        const started = await replays();
        const replay = await started.start({
          framerate: body.framerate,
          maxDurationSeconds: body.max_duration_in_seconds,
        });
        // Without an answer, the service does not know the recording and never stops it.
        if (signal.aborted) started.stop(replay.replay_id);
        signal.throwIfAborted();
        return replay;
      },
      listReplays: async () => (await replays()).list(),
      async stopReplay({ params }) {
        (await replays()).stop(params.replay_id);
      },
      async downloadReplay({ params }) {
        const file = (await replays()).read(params.replay_id);
        return file ?? withStatus(202, undefined, { retryAfterSeconds });
      },
    },
    follow: async (id) => (await replays()).follow(id),
    running: async () => (await created)?.running ?? 0,
    async across(change) {
      const loaded = await created;
      if (loaded !== undefined) return loaded.across(change);
      await change();
      return { replays: [] };
    },
    async close() {
      await (await created)?.close();
    },
  };
}
