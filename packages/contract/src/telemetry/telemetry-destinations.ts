import {
  CreateOtlpDestination,
  Id,
  lazyObject,
  ListOtlpDestinations,
  OtlpDestination,
  UpdateOtlpDestination,
} from "@shoal/schemas";
import { defineEndpoint, empty, json, page } from "../base/endpoint.ts";

/** OTLP endpoints that receive telemetry. */
const area = "Telemetry Destinations";
const idOrName = lazyObject(() => ({
  /** The destination's id, or its name. */
  id_or_name: Id,
}));

/** Sessions name it in `telemetry.export`. */
export const createOtlpDestination = defineEndpoint({
  operationId: "telemetry.destinations.create",
  area,
  plane: "control",
  moves: ["write destinations"],
  method: "POST",
  idempotency: "transaction",
  path: "/telemetry/destinations",
  summary: "Create a telemetry destination.",
  body: json(CreateOtlpDestination),
  responses: { 201: json(OtlpDestination) },
  errors: [400, 401, 403, 409, 500],
});

/** Newest first. */
export const listOtlpDestinations = defineEndpoint({
  operationId: "telemetry.destinations.list",
  area,
  plane: "control",
  moves: ["read destinations"],
  method: "GET",
  path: "/telemetry/destinations",
  summary: "List telemetry destinations.",
  query: ListOtlpDestinations,
  responses: { 200: page(OtlpDestination) },
  errors: [400, 401, 500],
});

/** An id takes precedence over a name. Header values are secrets and returned empty. */
export const getOtlpDestination = defineEndpoint({
  operationId: "telemetry.destinations.get",
  area,
  plane: "control",
  moves: ["read destinations"],
  method: "GET",
  path: "/telemetry/destinations/{id_or_name}",
  summary: "Get a telemetry destination by id or name.",
  params: idOrName,
  responses: { 200: json(OtlpDestination) },
  errors: [401, 404, 500],
});

/** Absent fields stay unchanged. It cannot be renamed while a managed-auth connection names it. */
export const updateOtlpDestination = defineEndpoint({
  operationId: "telemetry.destinations.update",
  area,
  plane: "control",
  moves: ["write destinations"],
  method: "PATCH",
  path: "/telemetry/destinations/{id_or_name}",
  summary: "Change a telemetry destination.",
  params: idOrName,
  body: json(UpdateOtlpDestination),
  responses: { 200: json(OtlpDestination) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Fails while a running session, a browser pool or a managed-auth connection uses it. */
export const deleteOtlpDestination = defineEndpoint({
  operationId: "telemetry.destinations.delete",
  area,
  plane: "control",
  moves: ["write destinations"],
  method: "DELETE",
  path: "/telemetry/destinations/{id_or_name}",
  summary: "Delete a telemetry destination.",
  params: idOrName,
  responses: { 204: empty },
  errors: [401, 403, 404, 409, 500],
});
