import { browserReplays } from "@shoal/contract";
import { answerText, type Instance } from "@shoal/placement";
import { type Handlers, ServiceError, withStatus } from "@shoal/router";
import { ErrorBody, Replay, type ReplayMark } from "@shoal/schemas";
import { LRUCache } from "lru-cache";
import type { IncomingMessage } from "node:http";
import { noAnswer } from "../browsers/session-errors.ts";
import type { RecordedSession } from "./recording-limits.ts";
import { isReplayId } from "./replay-files.ts";
import type { ReplayStore } from "./replay-store.ts";

/** Whose recordings a request is about; it has been found allowed. */
export interface ReplayAccess {
  readonly sessionId: string;
  /** `undefined` when the session does not run here. */
  readonly projectId: string | undefined;
  /** @throws {ServiceError} 404 when the session has ended, 409 while it starts. */
  instance(): Instance | Promise<Instance>;
  /** Where a recording can be looked at, without a key. */
  viewUrl(replayId: string): string;
}

/** Seconds until a file may be there. */
const retryAfterSeconds = 1;

/** Recordings are made in the instance, and kept, listed and read here: they outlive it. */
export function replayHandlers(store: ReplayStore): Handlers<typeof browserReplays, ReplayAccess> {
  const marks = new LRUCache<string, Promise<ReplayMark>>({ max: 10_000 });
  return {
    async startReplay({ body, context, headers, requestId, signal }) {
      const instance = await context.instance();
      const session = recordedSession(context);
      const key = headers["idempotency-key"];
      // A repeated request gets the answer of the first one, however many run by now.
      if (key === undefined) await store.admit(session);
      const answer = await ask(instance, { path: "/replays", requestId, signal, ...(typeof key === "string" && { key }) }, JSON.stringify(body));
      const replay = Replay.safeParse(answer);
      if (!replay.success || !isReplayId(replay.data.replay_id))
        throw new ServiceError(500, "internal_error", `The instance of browser ${context.sessionId} answered what is no recording.`);
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
      // A request that is repeated is not to begin another chapter.
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
  if (projectId === undefined) throw new ServiceError(404, "not_found", `Browser ${sessionId} has ended, and cannot be recorded any more.`);
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

/** @returns the instance's answer as parsed JSON; `undefined` for none. @throws {ServiceError} what the instance refused it with. */
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
    ? new ServiceError(status, refusal.data.code, refusal.data.message)
    : new ServiceError(500, "internal_error", `The instance answered ${String(status)}.`);
}

function parse(said: string): unknown {
  try {
    return JSON.parse(said);
  } catch {
    return undefined;
  }
}
