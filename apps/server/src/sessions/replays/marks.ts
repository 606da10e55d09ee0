import { ServiceError } from "@shoal/router";
import type { Replay, ReplayMark } from "@shoal/schemas";

const maxMarks = 500;

/** In seconds since the start of the film. @param asked - default: now, or the end of the recording. */
export function markOffset(
  { finished_at, started_at }: Pick<Replay, "finished_at" | "started_at">,
  asked: number | undefined,
): number {
  const endMs = finished_at == null ? Date.now() : Date.parse(finished_at);
  const lengthSeconds = started_at == null ? 0 : Math.max(0, endMs - Date.parse(started_at)) / 1000;
  // Marks must be before the end of a film, unless it is still growing.
  return asked === undefined || (finished_at != null && asked > lengthSeconds) ? lengthSeconds : asked;
}

/** @throws {ServiceError} 409 at the limit. */
export function withMark(present: Replay, mark: ReplayMark): Replay {
  const { marks = [] } = present;
  if (marks.length >= maxMarks)
    throw new ServiceError(409, "conflict", `This recording has ${String(maxMarks)} marks, the limit.`);
  return { ...present, marks: [...marks, mark].sort((a, b) => a.offset_seconds - b.offset_seconds) };
}
