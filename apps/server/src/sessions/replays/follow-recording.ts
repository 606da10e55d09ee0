import { instanceControl } from "@shoal/instance";
import { type Instance, streamFromInstance } from "@shoal/placement";
import type { Replay } from "@shoal/schemas";
import { open } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import type { Log } from "../../log/log.ts";
import { isPlayable } from "./film.ts";
import type { RecordedSession, RecordingLimits } from "./recording-limits.ts";

/** Instances stop earlier. */
const maxFilmBytes = 2 * 2 ** 30 + 64 * 2 ** 20;

export type FilmEnd = Pick<Replay, "finished_at" | "failure_reason">;

export interface FollowedRecording {
  readonly session: RecordedSession;
  readonly instance: Instance;
  readonly id: string;
  readonly path: string;
  readonly limits: Pick<RecordingLimits, "count" | "roomOf" | "fullMessage">;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** Copies a film from its instance while it grows. Never rejects. Resolves at the end of the film. */
export async function followRecording(recording: FollowedRecording): Promise<FilmEnd> {
  const { id, instance, limits, log, path, session, signal } = recording;
  let answer: IncomingMessage | undefined;
  let broke: string | undefined;
  try {
    answer = await streamFromInstance(instance, instanceControl.followReplay, { params: { id }, signal });
    if (!(await copy(answer, recording))) broke = limits.fullMessage();
  } catch (error) {
    // The film of a killed instance plays up to its end.
    log.warn({ session_id: session.id, replay_id: id, err: error }, "a recording was interrupted");
    broke = "The instance of the session ended before the recording was complete.";
  }
  return { finished_at: finishedAt(answer?.trailers["x-finished-at"]), ...(await failureOf(path, broke)) };
}

export async function failureOf(path: string, broke: string | undefined): Promise<Pick<Replay, "failure_reason">> {
  const hasPictures = await isPlayable(path).catch(() => false);
  if (hasPictures) return broke === undefined ? {} : { failure_reason: `${broke} The film is truncated.` };
  return { failure_reason: `${broke ?? "The recording ended before its first picture."} No film was saved.` };
}

/** The end according to the instance; never in the future, or retention would not delete the film. */
function finishedAt(said: string | undefined): string {
  const nowMs = Date.now();
  const saidMs = said === undefined ? Number.NaN : Date.parse(said);
  return new Date(Number.isNaN(saidMs) ? nowMs : Math.min(nowMs, saidMs)).toISOString();
}

/** Writes a film until the space limit. @returns whether the film is complete. */
async function copy(answer: IncomingMessage, { limits, path, session }: FollowedRecording): Promise<boolean> {
  const file = await open(path, "a");
  let bytes = 0;
  try {
    // Leaving the loop destroys the answer.
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      const fitting = chunk.subarray(0, limits.roomOf(session.projectId));
      bytes += fitting.length;
      if (bytes > maxFilmBytes) throw new Error("The recording is larger than any may be.");
      limits.count(session.projectId, fitting.length);
      await file.appendFile(fitting);
      if (fitting.length < chunk.length) return false;
    }
    return true;
  } finally {
    await file.close();
  }
}
