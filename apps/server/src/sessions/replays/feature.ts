import { browserReplays, type Endpoint } from "@shoal/contract";
import { mountAll } from "@shoal/router/fastify";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { join } from "node:path";
import type { Entering } from "../../host/entering.ts";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import type { SessionFiles } from "../../storage/session-files/session-files.ts";
import { type ReplayAccess, replayHandlers } from "./handlers.ts";
import type { ReplayAddresses } from "./replay-address.ts";
import { ReplayStore } from "./replay-store.ts";
import { type ReplayViewParts, serveReplayView } from "./replay-view.ts";
import { StoredReplays } from "./stored-replays.ts";

interface ReplayNeeds extends Pick<ReplayViewParts, "atHome" | "nameOf" | "page"> {
  readonly addresses: ReplayAddresses;
  readonly files: SessionFiles;
  /** Called when a film is complete. */
  readonly onFilm: (sessionId: string) => void;
  /** Admits a caller to the recordings of a session. */
  readonly accessOf: (request: FastifyRequest, endpoint: Endpoint) => Promise<ReplayAccess>;
}

export function replaysFeature({ config, dataDir, log }: Host, needs: ReplayNeeds) {
  const { accessOf, addresses } = needs;
  const store = new ReplayStore({
    directory: join(dataDir.path, "replays"),
    retentionDays: config.replay_retention_days,
    quota: { maxRunning: config.replay_max_running, maxBytes: config.replay_max_gib * 2 ** 30 },
    stored: new StoredReplays(needs.files),
    onFilm: needs.onFilm,
    log,
  });
  return {
    provides: {
      store,
      /** The address of a film, which needs no key and opens nothing else. */
      filmUrl: (sessionId: string, replayId: string, baseUrl: string) =>
        `${addresses.of(sessionId, replayId, baseUrl)}/film`,
      /** The address of the latest recording, relative to that of a live view. */
      async recordingOf(sessionId: string) {
        const latest = (await store.list(sessionId)).findLast(({ failure_reason }) => failure_reason == null);
        return latest && addresses.of(sessionId, latest.replay_id, "../..");
      },
    },
    serve(app: FastifyInstance, entering: Entering) {
      mountAll(app, browserReplays, replayHandlers(store), {
        unknownFields: config.unknown_fields,
        context: accessOf,
      });
      serveReplayView(app, {
        ...needs,
        store,
        frameAncestors: config.live_view_frame_ancestors,
        onRefused: (request) => {
          entering.countRefused(request.raw);
        },
      });
    },
    sweeps: [{ run: () => store.sweep(), problem: "old recordings could not be removed" }],
  } satisfies Feature;
}
