import { Id, lazyObject, ListSnapshots, Snapshot } from "@shoal/schemas";
import { defineEndpoint, empty, json, page } from "../base/endpoint.ts";

/** Stored states of sessions, from which `browsers.create` starts others. */
const area = "Snapshots";
const byId = lazyObject(() => ({
  /** The snapshot's id. */
  id: Id,
}));

/** Newest first. `browsers.snapshot` creates them. Specific to Shoal. */
export const listSnapshots = defineEndpoint({
  operationId: "snapshots.list",
  area,
  plane: "control",
  moves: ["read sessions"],
  method: "GET",
  path: "/snapshots",
  summary: "List snapshots.",
  query: ListSnapshots,
  responses: { 200: page(Snapshot) },
  errors: [400, 401, 403, 500],
});

/** Its size and what it needs, without the state. Specific to Shoal. */
export const getSnapshot = defineEndpoint({
  operationId: "snapshots.get",
  area,
  plane: "control",
  moves: ["read sessions"],
  method: "GET",
  path: "/snapshots/{id}",
  summary: "Get a snapshot.",
  params: byId,
  responses: { 200: json(Snapshot) },
  errors: [400, 401, 403, 404, 500],
});

/** Sessions that started from it continue. Specific to Shoal. */
export const deleteSnapshot = defineEndpoint({
  operationId: "snapshots.delete",
  area,
  plane: "control",
  moves: ["write files"],
  method: "DELETE",
  path: "/snapshots/{id}",
  summary: "Delete a snapshot.",
  params: byId,
  responses: { 204: empty },
  errors: [400, 401, 403, 404, 500],
});
