import type { WebhookDeliveriesTable, WebhooksTable } from "@shoal/database";
import type { Webhook, WebhookDelivery } from "@shoal/schemas";
import type { Selectable } from "kysely";

export type WebhookRow = Selectable<WebhooksTable>;
export type DeliveryRow = Omit<Selectable<WebhookDeliveriesTable>, "lease_until" | "retries">;

export const deliveryColumns = [
  "id",
  "webhook_id",
  "event_id",
  "event_type",
  "payload",
  "status",
  "attempts",
  "next_attempt_at",
  "last_attempt_at",
  "response_status",
  "duration_ms",
  "error",
  "created_at",
] as const satisfies readonly (keyof DeliveryRow)[];

function isFuture(moment: string | null): moment is string {
  return moment !== null && Date.parse(moment) > Date.now();
}

/** Without the secret. */
export function toWebhook(row: WebhookRow): Webhook {
  return {
    id: row.id,
    url: row.url,
    event_types: row.event_types,
    ...(row.description !== null && { description: row.description }),
    enabled: row.enabled,
    ...(row.disabled_reason !== null && { disabled_reason: row.disabled_reason }),
    ...(isFuture(row.previous_secret_expires_at) && { previous_secret_expires_at: row.previous_secret_expires_at }),
    ...(row.failing_since !== null && { failing_since: row.failing_since }),
    ...(row.dropped_at !== null && { dropped_at: row.dropped_at }),
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

export function toDelivery(row: DeliveryRow): WebhookDelivery {
  return {
    id: row.id,
    event_id: row.event_id,
    event_type: row.event_type,
    payload: row.payload,
    status: row.status,
    attempts: row.attempts,
    ...(row.next_attempt_at !== null && { next_attempt_at: row.next_attempt_at }),
    ...(row.last_attempt_at !== null && { last_attempt_at: row.last_attempt_at }),
    ...(row.response_status !== null && { response_status: row.response_status }),
    ...(row.duration_ms !== null && { duration_ms: row.duration_ms }),
    ...(row.error !== null && { error: row.error }),
    created_at: row.created_at,
  };
}
