import { browserReplays } from "@shoal/contract";
import { defaultRecordingStays } from "@shoal/contract/refusals";
import type { Instance } from "@shoal/placement";
import { type Handlers, ServiceError, withStatus } from "@shoal/router";
import type { Replay, ReplayMark } from "@shoal/schemas";
import { recentlyUsed } from "../../storage/recently-used.ts";
import type { RecordedSession } from "./recording-limits.ts";
import type { ReplayStore } from "./replay-store.ts";
import { askForRecording, startRecording } from "./start-recording.ts";

export interface ReplayAccess {
  readonly sessionId: string;
  /** `undefined` when the session does not run here. */
  readonly projectId: string | undefined;
  /** @throws {ServiceError} 404 when the session has ended, 409 while it starts. */
  instance(): Instance | Promise<Instance>;
  /** URL of the playback page, without a key. */
  viewUrl(replayId: string): string;
}

/** Suggested retry interval for incomplete files. */
const retryAfterSeconds = 1;

/** Instances make recordings; the service stores and serves them, since they outlive the instance. */
export function replayHandlers(store: ReplayStore): Handlers<typeof browserReplays, ReplayAccess> {
  const marks = recentlyUsed<Promise<ReplayMark>>(10_000);
  /** Keys of requests that may have started a recording. */
  const begun = recentlyUsed<boolean>(10_000);
  return {
    async startReplay({ body, context, headers, requestId }) {
      const instance = await context.instance();
      const session = recordedSession(context);
      const key = headers["idempotency-key"];
      if (typeof key === "string") {
        const name = `${context.sessionId}/${key}`;
        if (!begun.has(name)) await store.admit(session);
        begun.set(name, true);
      }
      const request = { body, requestId, ...(typeof key === "string" && { key }) };
      const id = await startRecording(store, { session, instance }, request);
      return shown(await store.show(context.sessionId, id), context);
    },
    async listReplays({ context }) {
      const replays = await store.list(context.sessionId);
      return replays.map((replay) => shown(replay, context));
    },
    async markReplay({ params, body, context, headers }) {
      const mark = () => store.mark(context.sessionId, params.replay_id, body);
      const key = headers["idempotency-key"];
      if (typeof key !== "string") return mark();
      // A repeated request must not add a second chapter.
      const name = `${context.sessionId}/${params.replay_id}/${key}`;
      const marked = marks.get(name) ?? mark();
      marks.set(name, marked);
      marked.catch(() => marks.delete(name));
      return marked;
    },
    async stopReplay({ params, context, requestId, signal }) {
      const { going, isByDefault } = await store.find(context.sessionId, params.replay_id);
      if (!going) return;
      if (isByDefault) throw ServiceError.of(defaultRecordingStays(params.replay_id));
      await askForRecording(await context.instance(), { path: `/replays/${params.replay_id}/stop`, requestId, signal });
      store.noteStop(context.sessionId, params.replay_id);
    },
    async downloadReplay({ params, context }) {
      const film = await store.read(context.sessionId, params.replay_id);
      if (film === undefined) return withStatus(202, undefined, { retryAfterSeconds });
      return { ...film, fileName: `${context.sessionId}-${params.replay_id}.mp4` };
    },
  };
}

function recordedSession({ projectId, sessionId }: ReplayAccess): RecordedSession {
  if (projectId === undefined)
    throw new ServiceError(404, "not_found", `Browser ${sessionId} has ended, and cannot be recorded any more.`);
  return { id: sessionId, projectId };
}

function shown(replay: Replay, context: ReplayAccess): Replay {
  const { started_at } = replay;
  return {
    ...replay,
    replay_view_url: context.viewUrl(replay.replay_id),
    ...(started_at != null && { clock: { started_ts: Date.parse(started_at) * 1000 } }),
  };
}
