import { browserReplays } from "@shoal/contract";
import { answerText, type Instance } from "@shoal/placement";
import { type ErrorData, type Handlers, ServiceError, withStatus } from "@shoal/router";
import { ErrorBody, Replay, type ReplayMark } from "@shoal/schemas";
import { LRUCache } from "lru-cache";
import type { IncomingMessage } from "node:http";
import { noAnswer } from "../instance-plane/no-answer.ts";
import type { RecordedSession } from "./recording-limits.ts";
import { isReplayId } from "./replay-files.ts";
import type { ReplayStore } from "./replay-store.ts";

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
  const marks = new LRUCache<string, Promise<ReplayMark>>({ max: 10_000 });
  return {
    async startReplay({ body, context, headers, requestId, signal }) {
      const instance = await context.instance();
      const session = recordedSession(context);
      const key = headers["idempotency-key"];
      // A repeated request gets the first answer, regardless of the current limits.
      if (key === undefined) await store.admit(session);
      const answer = await ask(
        instance,
        { path: "/replays", requestId, signal, ...(typeof key === "string" && { key }) },
        JSON.stringify(body),
      );
      const replay = Replay.safeParse(answer);
      if (!replay.success || !isReplayId(replay.data.replay_id))
        throw new ServiceError(
          500,
          "internal_error",
          `The instance of browser ${context.sessionId} returned an invalid recording.`,
        );
      const { replay_id, started_at } = replay.data;
      await store.keep(session, instance, { replay_id, started_at, finished_at: null });
      return shown(await store.show(context.sessionId, replay_id), context);
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
      const found = await store.find(context.sessionId, params.replay_id);
      if (!found.going) return;
      await ask(await context.instance(), { path: `/replays/${params.replay_id}/stop`, requestId, signal });
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

interface Asked {
  readonly path: string;
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly key?: string;
}

/** Returns parsed JSON; `undefined` for an empty answer. @throws {ServiceError} the error of the instance. */
async function ask(instance: Instance, { path, requestId, signal, key }: Asked, body = ""): Promise<unknown> {
  let answer: IncomingMessage;
  let said: string;
  try {
    const headers = {
      "x-request-id": requestId,
      ...(body !== "" && { "content-type": "application/json" }),
      ...(key !== undefined && { "idempotency-key": key }),
    };
    answer = await instance.request({ method: "POST", path, headers, signal }, body);
    said = await answerText(answer);
  } catch (error) {
    throw noAnswer(error);
  }
  const status = answer.statusCode ?? 502;
  const parsed = parse(said);
  if (status < 300) return parsed;
  const refusal = ErrorBody.safeParse(parsed);
  throw refusal.success
    ? new ServiceError(status, refusal.data.code, refusal.data.message, errorDataOf(refusal.data))
    : new ServiceError(500, "internal_error", `The instance answered ${String(status)}.`);
}

function errorDataOf({ field, limit, hint }: ErrorBody): ErrorData {
  return { field, limit, hint };
}

function parse(said: string): unknown {
  try {
    return JSON.parse(said);
  } catch {
    return undefined;
  }
}
