import type { Tables } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import type { NetworkRecording } from "@shoal/schemas";
import type { Selectable } from "kysely";
import type { RecordedTotals } from "./recorder.ts";

export type RecordingRow = Selectable<Tables["network_recordings"]>;

export function columnsOf({
  isTruncated: truncated,
  leftOut: left_out,
  requests,
  sizeBytes: size_bytes,
}: RecordedTotals) {
  return { truncated, left_out, requests, size_bytes };
}

export function shown(row: RecordingRow): NetworkRecording {
  const { created_at, expires_at, finished_at, id, left_out, requests, seed, session_id, size_bytes, truncated } = row;
  return {
    ...{ id, session_id, size_bytes, requests, left_out, truncated, created_at },
    status: finished_at === null ? "recording" : row.blob === null ? "failed" : "complete",
    ...(seed !== null && { seed }),
    ...(finished_at !== null && { finished_at }),
    ...(expires_at !== null && { expires_at }),
  };
}

export function isRunning({ id, session_id: session }: RecordingRow, done: string): ServiceError {
  return new ServiceError(
    409,
    "conflict",
    `Network recording ${id} cannot be ${done} yet: browser ${session} runs, or its recording is being stored.`,
    { hint: "End the browser with browsers.delete, and try again.", retryAfterSeconds: 1 },
  );
}
