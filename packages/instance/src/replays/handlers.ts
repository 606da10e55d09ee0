import type { browserReplays } from "@shoal/contract";
import { type Handlers, ServiceError, withStatus } from "@shoal/router";
import type { ServerResponse } from "node:http";
import { refuse } from "../session/replies.ts";
import type { Replays, ReplaysOptions } from "./replays.ts";

/** The session's recordings; what they need is loaded, and started, by the first one. */
export interface ReplayArea {
  readonly handlers: Handlers<Omit<typeof browserReplays, "markReplay">>;
  /** Answers the service, which keeps the files; never throws. */
  readonly follow: (id: string, response: ServerResponse) => void;
  /** How many go on. */
  readonly running: () => Promise<number>;
  /** Changes the size of what is recorded, see {@link Replays.across}. */
  readonly across: Replays["across"];
  /** Ends them; resolves when whoever follows has their files. */
  readonly close: () => Promise<void>;
}

/** Seconds until a file may be there. */
const retryAfterSeconds = 1;

export function replayArea(options: ReplaysOptions): ReplayArea {
  let created: Promise<Replays> | undefined;
  async function load(): Promise<Replays> {
    const { createReplays } = await import("./replays.ts");
    return createReplays(options);
  }
  const replays = (): Promise<Replays> => (created ??= load());
  return {
    handlers: {
      async startReplay({ body }) {
        if (body.record_audio)
          throw new ServiceError(501, "not_implemented", "body.record_audio: sound is not recorded yet. Leave record_audio away, or send false.");
        return (await replays()).start({ framerate: body.framerate, maxDurationSeconds: body.max_duration_in_seconds });
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
    follow(id, response) {
      replays()
        .then((loaded) => loaded.follow(id, response))
        .catch(() => {
          if (response.headersSent) response.destroy();
          else refuse(response, { status: 404, code: "not_found", message: "There is no such recording." });
        });
    },
    running: async () => (await created)?.running ?? 0,
    async across(change) {
      const loaded = await created;
      if (loaded !== undefined) return loaded.across(change);
      await change();
      return [];
    },
    async close() {
      await (await created)?.close();
    },
  };
}
