import { answerText, errorBodyOf, type Instance } from "@shoal/placement";
import { type ErrorData, ServiceError } from "@shoal/router";
import { type ErrorBody, Replay, type StartReplay } from "@shoal/schemas";
import type { IncomingMessage } from "node:http";
import type * as z from "zod/mini";
import { noAnswer } from "../instance-plane/no-answer.ts";
import type { RecordedSession } from "./recording-limits.ts";
import { isReplayId } from "./replay-files.ts";
import type { ReplayStore } from "./replay-store.ts";

/** Longer than an instance waits for its first picture and the encoder. */
const startTimeoutMs = 30_000;
const stopTimeoutMs = 5_000;

/**
 * Starts a recording in the instance, and keeps it, even if the client leaves: the instance records then too.
 * @returns its id. @throws {ServiceError} 409, 507 at a limit.
 */
export async function startRecording(
  store: Pick<ReplayStore, "admit" | "keep">,
  {
    byDefault = false,
    instance,
    session,
  }: { readonly instance: Instance; readonly session: RecordedSession; readonly byDefault?: boolean },
  { body, ...asked }: Omit<Asked, "path" | "signal"> & { readonly body: z.output<typeof StartReplay> },
): Promise<string> {
  // The caller admits requests with a key: a repeated one gets the first answer, regardless of the current limits.
  if (asked.key === undefined) await store.admit(session);
  const signal = AbortSignal.timeout(startTimeoutMs);
  const answer = await askForRecording(instance, { path: "/replays", signal, ...asked }, JSON.stringify(body));
  const replay = Replay.safeParse(answer);
  if (!replay.success || !isReplayId(replay.data.replay_id))
    throw new ServiceError(
      500,
      "internal_error",
      `The instance of browser ${session.id} returned an invalid recording.`,
    );
  const { replay_id, started_at } = replay.data;
  try {
    await store.keep(session, instance, {
      ...{ replay_id, started_at, finished_at: null },
      ...(byDefault && { by_default: true }),
    });
  } catch (error) {
    // It is not in the list, so that its client cannot stop it.
    const { requestId } = asked;
    const stop = { path: `/replays/${replay_id}/stop`, requestId, signal: AbortSignal.timeout(stopTimeoutMs) };
    await askForRecording(instance, stop).catch(() => undefined);
    throw error;
  }
  return replay_id;
}

interface Asked {
  readonly path: string;
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly key?: string;
}

/** Returns parsed JSON; `undefined` for an empty answer. @throws {ServiceError} the error of the instance. */
export async function askForRecording(
  instance: Instance,
  { path, requestId, signal, key }: Asked,
  body = "",
): Promise<unknown> {
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
  if (status < 300) return parse(said);
  const refusal = errorBodyOf(said);
  throw refusal
    ? new ServiceError(status, refusal.code, refusal.message, errorDataOf(refusal))
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
