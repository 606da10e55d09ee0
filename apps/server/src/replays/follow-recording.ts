import type { Instance } from "@shoal/placement";
import type { Replay } from "@shoal/schemas";
import { open } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import type { Log } from "../log.ts";
import { isPlayable } from "./film.ts";
import type { RecordedSession, RecordingLimits } from "./recording-limits.ts";

/** Largest film, in bytes: instances end theirs before this. */
const maxFilmBytes = 2 * 2 ** 30 + 64 * 2 ** 20;

/** What is known of a film once it grows no more. */
export type FilmEnd = Pick<Replay, "finished_at" | "failure_reason">;

export interface FollowedRecording {
  readonly session: RecordedSession;
  readonly instance: Instance;
  readonly id: string;
  /** Where the film goes; the file exists. */
  readonly path: string;
  readonly limits: Pick<RecordingLimits, "count" | "roomOf" | "fullMessage">;
  /** Ends it whatever the instance does. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** Copies a film from its instance while it grows. Never rejects. @returns when it grows no more. */
export async function followRecording(recording: FollowedRecording): Promise<FilmEnd> {
  const { id, instance, limits, log, path, session, signal } = recording;
  let answer: IncomingMessage | undefined;
  let broke: string | undefined;
  try {
    answer = await instance.request({ method: "GET", path: `/_instance/replays/${id}`, signal });
    if (answer.statusCode !== 200) {
      answer.destroy();
      throw new Error(`The instance answered ${String(answer.statusCode)} to the reader of a recording.`);
    }
    if (!(await copy(answer, recording))) broke = limits.fullMessage();
  } catch (error) {
    // Of an instance that is killed the film plays as far as it goes.
    log.warn({ session_id: session.id, replay_id: id, err: error }, "a recording broke off");
    broke = "The session's instance ended, or was cut off, before the recording was complete.";
  }
  return { finished_at: finishedAt(answer?.trailers["x-finished-at"]), ...(await failureOf(path, broke)) };
}

/** What is wrong with a film that has ended. */
export async function failureOf(path: string, broke: string | undefined): Promise<Pick<Replay, "failure_reason">> {
  const hasPictures = await isPlayable(path).catch(() => false);
  if (hasPictures) return broke === undefined ? {} : { failure_reason: `${broke} The film ends there.` };
  return { failure_reason: `${broke ?? "The recording ended before its first picture."} There is no film.` };
}

/** When an instance says that it ended; never in the future, or the film would be kept for ever. */
function finishedAt(said: string | undefined): string {
  const nowMs = Date.now();
  const saidMs = said === undefined ? Number.NaN : Date.parse(said);
  return new Date(Number.isNaN(saidMs) ? nowMs : Math.min(nowMs, saidMs)).toISOString();
}

/** Writes a film as far as there is room for it. @returns whether that was all of it. */
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
