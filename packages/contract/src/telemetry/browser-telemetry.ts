import { ListTelemetryEvents, StreamTelemetry, TelemetryEnvelope } from "@shoal/schemas";
import { bytes, defineEndpoint, eventStream, page } from "../base/endpoint.ts";
import { sessionId } from "../base/session-id.ts";

/** Events of a session: network, console, pages, interactions. */
const area = "Browser Telemetry";

/** Works after the session has ended too. Empty if nothing was captured. */
export const listTelemetryEvents = defineEndpoint({
  operationId: "browsers.telemetry.events",
  area,
  plane: "control",
  moves: ["read traffic"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/telemetry/events",
  summary: "List past telemetry events.",
  params: sessionId,
  query: ListTelemetryEvents,
  responses: { 200: page(TelemetryEnvelope) },
  errors: [400, 401, 403, 404, 500],
});

/** A JPEG of the page that was in front when the session ended, if the category `page` was captured. 404 while the session runs, and without a picture. Specific to Shoal. */
export const readLastPicture = defineEndpoint({
  operationId: "browsers.telemetry.lastPicture",
  area,
  plane: "control",
  moves: ["read page_content"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/telemetry/last_picture",
  summary: "Read the last picture of an ended session.",
  params: sessionId,
  responses: { 200: bytes("image/jpeg") },
  errors: [401, 403, 404, 500],
});

/** New events, unless `replay` or `Last-Event-ID` is set. Ends with the session. Silent while nothing is captured. */
export const streamTelemetry = defineEndpoint({
  operationId: "browsers.telemetry.stream",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, manages: true, direct: true },
  moves: ["read traffic"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/telemetry/stream",
  summary: "Follow the telemetry.",
  params: sessionId,
  query: StreamTelemetry,
  responses: { 200: eventStream(TelemetryEnvelope) },
  errors: [400, 401, 403, 404, 500],
});
