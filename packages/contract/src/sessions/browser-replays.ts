import { Id, lazyObject, MarkReplay, Replay, ReplayMark, StartReplay } from "@shoal/schemas";
import * as z from "zod/mini";
import { bytes, defineEndpoint, empty, json, optionalJson } from "../base/endpoint.ts";
import { sessionId, sessionIdField } from "../base/session-id.ts";

/** Video recordings of a session's screen. */
const area = "Browser Replays";
const idAndReplay = lazyObject(() => ({
  ...sessionIdField,
  /** The recording's id, from `browsers.replays.start`. */
  replay_id: Id,
}));

/** Several recordings may run at once. A recording ends with `browsers.replays.stop`, after its maximum duration, or with the session, and is then kept. */
export const startReplay = defineEndpoint({
  operationId: "browsers.replays.start",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true },
  moves: ["write page_content"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/replays",
  summary: "Record the screen.",
  params: sessionId,
  body: optionalJson(StartReplay),
  responses: { 201: json(Replay) },
  errors: [400, 401, 403, 404, 409, 500, 501],
});

/** Running and ended recordings, oldest first. */
export const listReplays = defineEndpoint({
  operationId: "browsers.replays.list",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true },
  moves: ["read page_content"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/replays",
  summary: "List recordings.",
  params: sessionId,
  responses: { 200: json(z.array(Replay)) },
  errors: [400, 401, 403, 404, 500],
});

/** MP4 (H.264). 202 while the file is being written: try again after `Retry-After` seconds. */
export const downloadReplay = defineEndpoint({
  operationId: "browsers.replays.download",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true },
  moves: ["read page_content"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/replays/{replay_id}",
  summary: "Download a recording.",
  params: idAndReplay,
  responses: { 200: bytes("video/mp4"), 202: empty },
  errors: [400, 401, 403, 404, 500],
});

/** `replay_view_url` shows chapters next to the video; at most 500. Specific to Shoal. */
export const markReplay = defineEndpoint({
  operationId: "browsers.replays.mark",
  area,
  plane: "control",
  moves: ["write page_content"],
  scope: ["browsers:use"],
  method: "POST",
  idempotency: { repeats: "Each mark is a new one." },
  path: "/browsers/{id}/replays/{replay_id}/marks",
  summary: "Start a chapter.",
  params: idAndReplay,
  body: json(MarkReplay),
  responses: { 201: json(ReplayMark) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Writes the file. An ended recording stays unchanged. A recording that `default_recording` started (`by_default`) goes on until the end of the session: 409. */
export const stopReplay = defineEndpoint({
  operationId: "browsers.replays.stop",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true },
  moves: ["write page_content"],
  scope: ["browsers:use"],
  method: "POST",
  idempotency: { repeats: "A recording that has stopped stays as it is." },
  path: "/browsers/{id}/replays/{replay_id}/stop",
  summary: "Stop a recording.",
  params: idAndReplay,
  responses: { 200: empty },
  errors: [400, 401, 403, 404, 409, 500],
});
