import { GetHandoff, Handoff, ReleaseHandoff, RequestHandoff } from "@shoal/schemas";
import { defineEndpoint, json, optionalJson } from "../base/endpoint.ts";
import { sessionId } from "../base/session-id.ts";

/** Control of a session by a person, while its programs pause. */
const area = "Browser Handoff";

/** Pauses input and changes by programs until the person returns control, the program releases it, or it expires. Reading continues. */
export const requestHandoff = defineEndpoint({
  operationId: "browsers.handoff.request",
  area,
  plane: "control",
  moves: ["write access_links"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/handoff",
  summary: "Hand a session over to a person.",
  params: sessionId,
  body: json(RequestHandoff),
  responses: { 201: json(Handoff) },
  errors: [400, 401, 403, 404, 409, 500, 503],
});

/** The latest one, also after its end. With `wait_seconds`, answers at the end of the handoff or after this time. */
export const getHandoff = defineEndpoint({
  operationId: "browsers.handoff.get",
  area,
  plane: "control",
  moves: ["read access_links"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/handoff",
  summary: "Get the handoff of a session, or wait for its end.",
  params: sessionId,
  query: GetHandoff,
  responses: { 200: json(Handoff) },
  errors: [400, 401, 403, 404, 500],
});

/** Programs continue, and the link ends. Returns an ended handoff unchanged. */
export const releaseHandoff = defineEndpoint({
  operationId: "browsers.handoff.release",
  area,
  plane: "control",
  moves: ["write access_links"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/handoff/release",
  summary: "Return control from the person to the programs.",
  params: sessionId,
  body: optionalJson(ReleaseHandoff),
  responses: { 200: json(Handoff) },
  errors: [400, 401, 403, 404, 500, 503],
});

/** Like `release`, for a request that is not needed any more. Returns an ended handoff unchanged. */
export const cancelHandoff = defineEndpoint({
  operationId: "browsers.handoff.cancel",
  area,
  plane: "control",
  moves: ["write access_links"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/handoff/cancel",
  summary: "Cancel a handoff.",
  params: sessionId,
  responses: { 200: json(Handoff) },
  errors: [400, 401, 403, 404, 500, 503],
});
