import { contract as native } from "@shoal/contract";
import type { Replay } from "@shoal/schemas";
import type { DialectCaller, DialectParts } from "../kit/dialect.ts";
import { browserOf } from "../kit/browsers.ts";
import type { RecordingDownloads, Replays } from "./shapes.ts";

interface Recordings {
  readonly sessionId: string;
  readonly replays: readonly Replay[];
  /** A film, without a key. */
  readonly urlOf: (replayId: string) => string;
}

async function recordingsOf(
  { filmUrl, replays }: DialectParts,
  { calls }: DialectCaller,
  id: string,
): Promise<Recordings> {
  const params: Record<string, string | undefined> = { id };
  const { baseUrl } = await calls.admit(native.listReplays, params);
  const { session_id: sessionId } = await browserOf(calls, params.id ?? id);
  return {
    sessionId,
    replays: await replays.list(sessionId),
    urlOf: (replayId) => filmUrl(sessionId, replayId, baseUrl),
  };
}

export async function listRecordings(
  parts: DialectParts,
  caller: DialectCaller,
  id: string,
): Promise<RecordingDownloads> {
  const { replays, urlOf } = await recordingsOf(parts, caller, id);
  return {
    downloads: replays.map(({ failure_reason: failure, finished_at: finished, replay_id: replayId }) => {
      if (failure != null) return { pageId: replayId, status: "FAILED" };
      if (finished == null) return { pageId: replayId, status: "PENDING" };
      return { pageId: replayId, status: "COMPLETED", downloadUrl: urlOf(replayId), completedAt: finished };
    }),
  };
}

export async function listReplays(parts: DialectParts, caller: DialectCaller, id: string): Promise<Replays> {
  const { replays, urlOf } = await recordingsOf(parts, caller, id);
  const finished = replays.flatMap(
    ({ failure_reason: failure, finished_at: end, replay_id: pageId, started_at: start }) =>
      failure == null && start != null && end != null
        ? [{ pageId, startTimeMs: Date.parse(start), endTimeMs: Date.parse(end), url: urlOf(pageId) }]
        : [],
  );
  return { pageCount: finished.length, pages: finished };
}
