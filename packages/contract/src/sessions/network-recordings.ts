import { Id, lazyObject, ListNetworkRecordings, NetworkRecording } from "@shoal/schemas";
import { defineEndpoint, empty, json, page } from "../base/endpoint.ts";

/** Recorded answers of the network, which sessions replay. */
const area = "Network Recordings";
const byId = lazyObject(() => ({
  /** The recording's id. */
  id: Id,
}));

/** Newest first. `browsers.create` with `recording.network` creates them. Specific to Shoal. */
export const listNetworkRecordings = defineEndpoint({
  operationId: "networkRecordings.list",
  area,
  plane: "control",
  moves: ["read sessions"],
  method: "GET",
  path: "/network_recordings",
  summary: "List network recordings.",
  query: ListNetworkRecordings,
  responses: { 200: page(NetworkRecording) },
  errors: [400, 401, 403, 500],
});

/** Its state and size, without the answers. Specific to Shoal. */
export const getNetworkRecording = defineEndpoint({
  operationId: "networkRecordings.get",
  area,
  plane: "control",
  moves: ["read sessions"],
  method: "GET",
  path: "/network_recordings/{id}",
  summary: "Get a network recording.",
  params: byId,
  responses: { 200: json(NetworkRecording) },
  errors: [400, 401, 403, 404, 500],
});

/** Sessions that replay it get no more answers from it. 409 while its session runs. Specific to Shoal. */
export const deleteNetworkRecording = defineEndpoint({
  operationId: "networkRecordings.delete",
  area,
  plane: "control",
  moves: ["write traffic"],
  method: "DELETE",
  path: "/network_recordings/{id}",
  summary: "Delete a network recording.",
  params: byId,
  responses: { 204: empty },
  errors: [400, 401, 403, 404, 409, 500],
});
