import {
  CreateWebhook,
  Id,
  lazyObject,
  ListWebhookDeliveries,
  ListWebhooks,
  RotateWebhookSecret,
  UpdateWebhook,
  Webhook,
  WebhookDelivery,
} from "@shoal/schemas";
import { defineEndpoint, empty, json, optionalJson, page } from "../base/endpoint.ts";

/** Addresses that receive the project's events, signed by the rules of Standard Webhooks. */
const area = "Webhooks";
const id = lazyObject(() => ({
  /** The webhook's id. */
  id: Id,
}));

/** Deliveries arrive at least once, in any order: `webhook-id` identifies repeats. The secret is returned here, and not again. A project has up to 50 webhooks. */
export const createWebhook = defineEndpoint({
  operationId: "webhooks.create",
  area,
  plane: "control",
  moves: ["write destinations"],
  method: "POST",
  idempotency: "transaction",
  path: "/webhooks",
  summary: "Create a webhook.",
  body: json(CreateWebhook),
  responses: { 201: json(Webhook) },
  errors: [400, 401, 403, 409, 500],
});

/** Newest first, without secrets. */
export const listWebhooks = defineEndpoint({
  operationId: "webhooks.list",
  area,
  plane: "control",
  moves: ["read destinations"],
  method: "GET",
  path: "/webhooks",
  summary: "List webhooks.",
  query: ListWebhooks,
  responses: { 200: page(Webhook) },
  errors: [400, 401, 500],
});

/** Without its secret. */
export const getWebhook = defineEndpoint({
  operationId: "webhooks.get",
  area,
  plane: "control",
  moves: ["read destinations"],
  method: "GET",
  path: "/webhooks/{id}",
  summary: "Get a webhook.",
  params: id,
  responses: { 200: json(Webhook) },
  errors: [401, 404, 500],
});

/** Absent fields stay unchanged. Waiting deliveries go to a new `url`. */
export const updateWebhook = defineEndpoint({
  operationId: "webhooks.update",
  area,
  plane: "control",
  moves: ["write destinations"],
  method: "PATCH",
  path: "/webhooks/{id}",
  summary: "Change a webhook.",
  params: id,
  body: json(UpdateWebhook),
  responses: { 200: json(Webhook) },
  errors: [400, 401, 403, 404, 500],
});

/** Deletes its deliveries as well. */
export const deleteWebhook = defineEndpoint({
  operationId: "webhooks.delete",
  area,
  plane: "control",
  moves: ["write destinations"],
  method: "DELETE",
  path: "/webhooks/{id}",
  summary: "Delete a webhook.",
  params: id,
  responses: { 204: empty },
  errors: [401, 403, 404, 500],
});

/** Until the end of `grace_seconds`, deliveries have a signature of each secret. The new secret is returned here, and not again. */
export const rotateWebhookSecret = defineEndpoint({
  operationId: "webhooks.rotateSecret",
  area,
  plane: "control",
  moves: ["write destinations"],
  method: "POST",
  idempotency: "transaction",
  path: "/webhooks/{id}/rotate_secret",
  summary: "Replace the secret of a webhook.",
  params: id,
  body: optionalJson(RotateWebhookSecret),
  responses: { 200: json(Webhook) },
  errors: [400, 401, 403, 404, 500],
});

/** Sends `webhook.test` once and returns the result, also for a disabled webhook. */
export const testWebhook = defineEndpoint({
  operationId: "webhooks.test",
  area,
  plane: "control",
  moves: ["write destinations"],
  method: "POST",
  idempotency: "transaction",
  path: "/webhooks/{id}/test",
  summary: "Send a test event to a webhook.",
  params: id,
  responses: { 200: json(WebhookDelivery) },
  errors: [401, 403, 404, 500],
});

/** Newest first. Deliveries are kept for `webhook_retention_days` (7), up to 10,000 of a webhook. */
export const listWebhookDeliveries = defineEndpoint({
  operationId: "webhooks.deliveries.list",
  area,
  plane: "control",
  moves: ["read destinations"],
  method: "GET",
  path: "/webhooks/{id}/deliveries",
  summary: "List deliveries of a webhook.",
  params: id,
  query: ListWebhookDeliveries,
  responses: { 200: page(WebhookDelivery) },
  errors: [400, 401, 404, 500],
});

/** Sends the event again at once, with the same `webhook-id`. Failed attempts are repeated like those of a new event. */
export const redeliverWebhook = defineEndpoint({
  operationId: "webhooks.deliveries.redeliver",
  area,
  plane: "control",
  moves: ["write destinations"],
  method: "POST",
  path: "/webhooks/{id}/deliveries/{delivery_id}/redeliver",
  summary: "Send an event to a webhook again.",
  params: lazyObject(() => ({
    /** The webhook's id. */
    id: Id,
    /** The delivery's id. */
    delivery_id: Id,
  })),
  responses: { 202: json(WebhookDelivery) },
  errors: [401, 403, 404, 409, 500],
});
