import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../http/auth/access.ts";
import type { Deliveries } from "./deliveries.ts";
import type { Webhooks } from "./webhooks.ts";

export function webhookHandlers(
  webhooks: Webhooks,
  deliveries: Deliveries,
): Handlers<OperationsOf<"webhooks" | "webhooks.deliveries">, Access> {
  return {
    createWebhook: ({ body, context }) => webhooks.create(context.projectId, body),
    listWebhooks: ({ query, context }) => webhooks.list(context.projectId, query),
    getWebhook: ({ params, context }) => webhooks.get(context.projectId, params.id),
    updateWebhook: ({ params, body, context }) => webhooks.update(context.projectId, params.id, body),
    deleteWebhook: ({ params, context }) => webhooks.delete(context.projectId, params.id),
    rotateWebhookSecret: ({ params, body, context }) => webhooks.rotateSecret(context.projectId, params.id, body),
    testWebhook: ({ params, context, signal }) => deliveries.test(context.projectId, params.id, signal),
    listWebhookDeliveries: ({ params, query, context }) => deliveries.list(context.projectId, params.id, query),
    redeliverWebhook: ({ params, context }) => deliveries.redeliver(context.projectId, params.id, params.delivery_id),
  };
}
