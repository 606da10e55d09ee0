import type { OperationsOf } from "@shoal/contract";
import {
  maxWebhooks,
  tooManyWebhooks,
  webhookDeliveryNotFound,
  webhookDisabled,
  webhookNotFound,
} from "@shoal/contract/refusals";
import { createId } from "@shoal/primitives";
import { ServiceError, type Handlers } from "@shoal/router";
import { randomBytes } from "node:crypto";
import type { Access } from "../state/access.ts";
import { holds, pageOf } from "../state/listing.ts";
import type { Store } from "../state/store.ts";
import { recordDelivery, toWebhook, type WebhookRow } from "../state/webhooks.ts";

const newSecret = () => `whsec_${randomBytes(32).toString("base64")}`;

/** Records events as delivered, and sends nothing. */
export function webhookHandlers(store: Store): Handlers<OperationsOf<"webhooks" | "webhooks.deliveries">, Access> {
  const ofProject = (projectId: string) => store.webhooks.filter((row) => row.projectId === projectId);

  function existing(projectId: string, id: string): WebhookRow {
    const row = ofProject(projectId).find((each) => each.id === id);
    if (row === undefined) throw ServiceError.of(webhookNotFound(id));
    return row;
  }

  return {
    createWebhook: ({ body, context: { projectId } }) => {
      if (ofProject(projectId).length >= maxWebhooks) throw ServiceError.of(tooManyWebhooks());
      const { description, event_types, secret = newSecret(), url } = body;
      const now = new Date().toISOString();
      const row: WebhookRow = {
        id: createId(),
        projectId,
        url: new URL(url).href,
        eventTypes: [...new Set(event_types)],
        description: description === "" ? undefined : description,
        enabled: true,
        secret,
        previousExpiresAt: undefined,
        createdAt: now,
        updatedAt: now,
        deliveries: [],
      };
      store.webhooks.push(row);
      return { ...toWebhook(row), secret };
    },
    listWebhooks: ({ query: { query: part, ...window }, context }) => {
      const found = ofProject(context.projectId).filter(
        (row) => part === undefined || holds(row.url, part) || holds(row.description, part) || row.id === part,
      );
      return pageOf(found.reverse(), window, toWebhook);
    },
    getWebhook: ({ params, context }) => toWebhook(existing(context.projectId, params.id)),
    updateWebhook: ({ params, body, context }) => {
      const row = existing(context.projectId, params.id);
      const { description, enabled, event_types, url } = body;
      if (url !== undefined) row.url = new URL(url).href;
      if (event_types !== undefined) row.eventTypes = [...new Set(event_types)];
      if (description !== undefined) row.description = description === "" ? undefined : description;
      row.enabled = enabled ?? row.enabled;
      row.updatedAt = new Date().toISOString();
      return toWebhook(row);
    },
    deleteWebhook: ({ params, context }) => {
      store.webhooks.splice(store.webhooks.indexOf(existing(context.projectId, params.id)), 1);
    },
    rotateWebhookSecret: ({ params, body, context }) => {
      const row = existing(context.projectId, params.id);
      const { grace_seconds: grace, secret = newSecret() } = body;
      row.secret = secret;
      row.previousExpiresAt = grace === 0 ? undefined : new Date(Date.now() + grace * 1000).toISOString();
      row.updatedAt = new Date().toISOString();
      return { ...toWebhook(row), secret };
    },
    testWebhook: ({ params, context }) => {
      const row = existing(context.projectId, params.id);
      return recordDelivery(row, createId(), { type: "webhook.test", data: { webhook_id: row.id } });
    },
    listWebhookDeliveries: ({ params, query: { event_type, status, ...window }, context }) => {
      const found = existing(context.projectId, params.id).deliveries.filter(
        (one) =>
          (status === undefined || one.status === status) &&
          (event_type === undefined || one.event_type === event_type),
      );
      return pageOf(found.reverse(), window, (one) => one);
    },
    redeliverWebhook: ({ params, context }) => {
      const row = existing(context.projectId, params.id);
      const index = row.deliveries.findIndex(({ id }) => id === params.delivery_id);
      const found = row.deliveries[index];
      if (!row.enabled) throw ServiceError.of(webhookDisabled(row.id));
      if (found === undefined) throw ServiceError.of(webhookDeliveryNotFound(params.delivery_id));
      const again = { ...found, attempts: found.attempts + 1, last_attempt_at: new Date().toISOString() };
      row.deliveries[index] = again;
      return again;
    },
  };
}
