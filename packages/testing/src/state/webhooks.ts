import { createId } from "@shoal/primitives";
import type { Webhook, WebhookDelivery, WebhookEvent } from "@shoal/schemas";

/** With its secrets, which only the fake knows. */
export interface WebhookRow {
  readonly id: string;
  readonly projectId: string;
  url: string;
  eventTypes: readonly string[];
  description: string | undefined;
  enabled: boolean;
  secret: string;
  previousExpiresAt: string | undefined;
  readonly createdAt: string;
  updatedAt: string;
  /** Oldest first. */
  readonly deliveries: WebhookDelivery[];
}

export interface RecordedEvent {
  readonly type: WebhookEvent["type"];
  readonly data: object;
}

export function toWebhook(row: WebhookRow): Webhook {
  const { description, previousExpiresAt } = row;
  return {
    id: row.id,
    url: row.url,
    event_types: [...row.eventTypes],
    ...(description !== undefined && { description }),
    enabled: row.enabled,
    ...(previousExpiresAt !== undefined && { previous_secret_expires_at: previousExpiresAt }),
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

/** Records the event as delivered to each webhook of the project that selects it. Nothing is sent. */
export function recordEvent(webhooks: readonly WebhookRow[], projectId: string, event: RecordedEvent): void {
  const eventId = createId();
  for (const row of webhooks) {
    const isSelected = row.eventTypes.length === 0 || row.eventTypes.includes(event.type);
    if (row.projectId === projectId && row.enabled && isSelected) recordDelivery(row, eventId, event);
  }
}

export function recordDelivery(row: WebhookRow, eventId: string, { data, type }: RecordedEvent): WebhookDelivery {
  const now = new Date().toISOString();
  const delivery: WebhookDelivery = {
    id: createId(),
    event_id: eventId,
    event_type: type,
    payload: JSON.stringify({ type, timestamp: now, data }),
    status: "succeeded",
    attempts: 1,
    last_attempt_at: now,
    response_status: 204,
    duration_ms: 1,
    created_at: now,
  };
  row.deliveries.push(delivery);
  return delivery;
}
