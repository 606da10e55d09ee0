import { browserReplays } from "@shoal/contract";
import type { Instance } from "@shoal/placement";
import { type Handlers, ServiceError, withStatus } from "@shoal/router";
import { ErrorBody, Replay } from "@shoal/schemas";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { isReplayId, type ReplayStore } from "./replay-store.ts";

/** Whose recordings a request is about; it has been found allowed. */
export interface ReplayAccess {
  readonly sessionId: string;
  /** @throws {ServiceError} 404 when the session has ended, 409 while it starts. */
  instance(): Instance | Promise<Instance>;
  /** Where a recording can be looked at, without a key. */
  viewUrl(replayId: string): Promise<string>;
}

/** Seconds until a file may be there. */
const retryAfterSeconds = 1;
const maxAnswerCharacters = 65_536;

/** Recordings are made in the instance, and kept, listed and read here: they outlive it. */
export function replayHandlers(store: ReplayStore): Handlers<typeof browserReplays, ReplayAccess> {
  return {
    async startReplay({ body, context, headers, requestId, signal }) {
      const instance = await context.instance();
      const key = headers["idempotency-key"];
      const answer = await ask(instance, { path: "/replays", requestId, signal, ...(typeof key === "string" && { key }) }, JSON.stringify(body));
      const replay = Replay.safeParse(answer);
      if (!replay.success || !isReplayId(replay.data.replay_id)) throw new ServiceError(500, "internal_error", `The instance of browser ${context.sessionId} answered what is no recording.`);
      const { replay_id, started_at } = replay.data;
      const kept: Replay = { replay_id, started_at, finished_at: null };
      await store.keep(context.sessionId, instance, kept);
      return { ...kept, replay_view_url: await context.viewUrl(replay_id) };
    },
    async listReplays({ context }) {
      const replays = await store.list(context.sessionId);
      return Promise.all(replays.map(async (replay) => ({ ...replay, replay_view_url: await context.viewUrl(replay.replay_id) })));
    },
    async stopReplay({ params, context, requestId, signal }) {
      const found = await store.find(context.sessionId, params.replay_id);
      if (found.going) await ask(await context.instance(), { path: `/replays/${params.replay_id}/stop`, requestId, signal });
    },
    async downloadReplay({ params, context }) {
      return (await store.read(context.sessionId, params.replay_id)) ?? withStatus(202, undefined, { retryAfterSeconds });
    },
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
    const headers = { "x-request-id": requestId, ...(body !== "" && { "content-type": "application/json" }), ...(key !== undefined && { "idempotency-key": key }) };
    answer = await instance.request({ method: "POST", path, headers, signal }, body);
    said = await text(answer);
  } catch (error) {
    throw new ServiceError(500, "browser_not_running", "The instance of this browser did not answer: it may be ending. Look at the session with browsers.get, include_deleted=true, and repeat the request if it still runs.", { cause: error });
  }
  const status = answer.statusCode ?? 502;
  const parsed = said.length <= maxAnswerCharacters ? parse(said) : undefined;
  if (status < 300) return parsed;
  const refusal = ErrorBody.safeParse(parsed);
  throw refusal.success ? new ServiceError(status, refusal.data.code, refusal.data.message) : new ServiceError(500, "internal_error", `The instance answered ${String(status)}.`);
}

function parse(said: string): unknown {
  try {
    return JSON.parse(said);
  } catch {
    return undefined;
  }
}
