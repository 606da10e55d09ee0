// The team's operations as data. The client, the server, the command line and OpenAPI use them like Shoal's own.
import { bytes, defineEndpoint, json, page } from "@shoal/contract";
import { Id, lazyObject } from "@shoal/schemas";
import { CreateDelivery, Delivery, ListDeliveries } from "./schemas.ts";

const area = "Deliveries";
const id = lazyObject(() => ({
  /** The delivery's id. */
  id: Id,
}));

/** The file is copied immediately; the session may end afterwards. */
export const createDelivery = defineEndpoint({
  operationId: "deliveries.create",
  area,
  plane: "control",
  method: "POST",
  path: "/deliveries",
  summary: "Take a file out of a browser session.",
  body: json(CreateDelivery),
  responses: { 201: json(Delivery) },
  errors: [400, 401, 404, 413, 500],
});

/** Newest first. */
export const listDeliveries = defineEndpoint({
  operationId: "deliveries.list",
  area,
  plane: "control",
  method: "GET",
  path: "/deliveries",
  summary: "List deliveries.",
  query: ListDeliveries,
  responses: { 200: page(Delivery) },
  errors: [400, 401, 500],
});

export const getDelivery = defineEndpoint({
  operationId: "deliveries.get",
  area,
  plane: "control",
  method: "GET",
  path: "/deliveries/{id}",
  summary: "Get a delivery.",
  params: id,
  responses: { 200: json(Delivery) },
  errors: [401, 404, 500],
});

export const readDelivery = defineEndpoint({
  operationId: "deliveries.read",
  area,
  plane: "control",
  method: "GET",
  path: "/deliveries/{id}/content",
  summary: "Read the file of a delivery.",
  params: id,
  responses: { 200: bytes("application/octet-stream") },
  errors: [401, 404, 500],
});
