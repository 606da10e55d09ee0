import { Id, lazyObject, MarkReplay, Replay, ReplayMark, StartReplay } from "@shoal/schemas";
import * as z from "zod/mini";
import { bytes, defineEndpoint, empty, json, optionalJson } from "./endpoint.ts";

const area = "Browser Replays";
const id = lazyObject(() => ({
  /** The session's id, or the name of a running session. */
  id: Id,
}));
const idAndReplay = lazyObject(() => ({
  /** The session's id, or the name of a running session. */
  id: Id,
  /** The recording, as `browsers.replays.start` named it. */
  replay_id: Id,
}));

/** Several may run at once. A recording ends with `browsers.replays.stop`, after its longest time, or with the session, and is kept after that. */
export const startReplay = defineEndpoint({
  operationId: "browsers.replays.start",
  area,
  plane: "instance",
  method: "POST",
  path: "/browsers/{id}/replays",
  summary: "Record the screen.",
  params: id,
  body: optionalJson(StartReplay),
  responses: { 201: json(Replay) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Those that go on and those that have ended, oldest first. */
export const listReplays = defineEndpoint({
  operationId: "browsers.replays.list",
  area,
  plane: "instance",
  method: "GET",
  path: "/browsers/{id}/replays",
  summary: "List recordings.",
  params: id,
  responses: { 200: json(z.array(Replay)) },
  errors: [400, 401, 403, 404, 500],
});

/** MP4 (H.264). 202 while the file is being written: ask again after `Retry-After` seconds. */
export const downloadReplay = defineEndpoint({
  operationId: "browsers.replays.download",
  area,
  plane: "instance",
  method: "GET",
  path: "/browsers/{id}/replays/{replay_id}",
  summary: "Download a recording.",
  params: idAndReplay,
  responses: { 200: bytes("video/mp4"), 202: empty },
  errors: [400, 401, 403, 404, 500],
});

/** Chapters are shown beside the film at `replay_view_url`; 500 at most. An addition of Shoal. */
export const markReplay = defineEndpoint({
  operationId: "browsers.replays.mark",
  area,
  plane: "control",
  method: "POST",
  path: "/browsers/{id}/replays/{replay_id}/marks",
  summary: "Begin a chapter.",
  params: idAndReplay,
  body: json(MarkReplay),
  responses: { 201: json(ReplayMark) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** The file is written then; a recording that has ended stays as it is. */
export const stopReplay = defineEndpoint({
  operationId: "browsers.replays.stop",
  area,
  plane: "instance",
  method: "POST",
  path: "/browsers/{id}/replays/{replay_id}/stop",
  summary: "End a recording.",
  params: idAndReplay,
  responses: { 200: empty },
  errors: [400, 401, 403, 404, 500],
});
