import {
  CreatedLiveViewLink,
  CreateLiveViewLink,
  Id,
  lazyObject,
  ListLiveViewLinks,
  LiveViewLink,
} from "@shoal/schemas";
import { defineEndpoint, empty, json, optionalJson, page } from "../base/endpoint.ts";
import { sessionId, sessionIdField } from "../base/session-id.ts";

/** Links to the live view of a session, with a scope, an expiry and the name of a person. */
const area = "Live View Links";

/** A session has at most 100 valid links. */
export const createLiveViewLink = defineEndpoint({
  operationId: "browsers.liveViewLinks.create",
  area,
  plane: "control",
  moves: ["write access_links"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/live_view_links",
  summary: "Create a link to the live view.",
  params: sessionId,
  body: optionalJson(CreateLiveViewLink),
  responses: { 201: json(CreatedLiveViewLink) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Valid links, newest first, without their URLs. */
export const listLiveViewLinks = defineEndpoint({
  operationId: "browsers.liveViewLinks.list",
  area,
  plane: "control",
  moves: ["read access_links"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/live_view_links",
  summary: "List the links to the live view.",
  params: sessionId,
  query: ListLiveViewLinks,
  responses: { 200: page(LiveViewLink) },
  errors: [400, 401, 403, 404, 500],
});

/** Disconnects its viewers. */
export const deleteLiveViewLink = defineEndpoint({
  operationId: "browsers.liveViewLinks.delete",
  area,
  plane: "control",
  moves: ["write access_links"],
  scope: ["browsers:use"],
  method: "DELETE",
  path: "/browsers/{id}/live_view_links/{link_id}",
  summary: "Revoke a link to the live view.",
  params: lazyObject(() => ({
    ...sessionIdField,
    /** The link's id. */
    link_id: Id,
  })),
  responses: { 204: empty },
  errors: [401, 403, 404, 500],
});
