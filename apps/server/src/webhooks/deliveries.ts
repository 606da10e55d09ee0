import type { Page } from "@shoal/contract";
import { webhookDeliveryNotFound, webhookDisabled, webhookNotFound } from "@shoal/contract/refusals";
import type { Database } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { ListWebhookDeliveries, WebhookDelivery, WebhookEvent } from "@shoal/schemas";
import { sql } from "kysely";
import type * as z from "zod/mini";
import { isStorable, newestFirst, toPage } from "../http/paging.ts";
import type { DeliveryQueue } from "./delivery-queue.ts";
import type { DeliverySender } from "./delivery-sender.ts";
import { deliveryColumns, toDelivery } from "./webhook-row.ts";
import { existingWebhook } from "./webhooks.ts";

/** Ended deliveries of a webhook that are kept. */
const maxKept = 10_000;
const dayMs = 24 * 60 * 60 * 1000;

export interface DeliveriesParts {
  readonly database: Pick<Database, "query">;
  readonly queue: DeliveryQueue;
  readonly sender: DeliverySender;
  readonly retentionDays: () => number;
}

/** The operations on deliveries. `DeliveryWorker` sends them. */
export class Deliveries {
  readonly #query: Database["query"];
  readonly #parts: DeliveriesParts;

  constructor(parts: DeliveriesParts) {
    this.#query = parts.database.query;
    this.#parts = parts;
  }

  /** @throws {ServiceError} 404. */
  async list(
    projectId: string,
    webhookId: string,
    filter: z.output<typeof ListWebhookDeliveries>,
  ): Promise<Page<WebhookDelivery>> {
    const { id } = await existingWebhook(this.#query, projectId, webhookId);
    let rows = this.#query.selectFrom("webhook_deliveries").select(deliveryColumns).where("webhook_id", "=", id);
    if (filter.status !== undefined) rows = rows.where("status", "=", filter.status);
    if (filter.event_type !== undefined) rows = rows.where("event_type", "=", filter.event_type);
    return toPage(await newestFirst(rows, filter).execute(), filter, toDelivery);
  }

  /** @throws {ServiceError} 404, 409. */
  async redeliver(projectId: string, webhookId: string, deliveryId: string): Promise<WebhookDelivery> {
    const webhook = await existingWebhook(this.#query, projectId, webhookId);
    if (!webhook.enabled) throw ServiceError.of(webhookDisabled(webhookId));
    const row = isStorable(deliveryId)
      ? await this.#query
          .updateTable("webhook_deliveries")
          .set({ status: "pending", retries: 0, next_attempt_at: sql<string>`clock_timestamp()` })
          .where("id", "=", deliveryId)
          .where("webhook_id", "=", webhook.id)
          .returning(deliveryColumns)
          .executeTakeFirst()
      : undefined;
    if (row === undefined) throw ServiceError.of(webhookDeliveryNotFound(deliveryId));
    await sql`select pg_notify('shoal_changes', ${`webhook_deliveries:${row.event_id}`})`.execute(this.#query);
    return toDelivery(row);
  }

  /** Sends a test event once and waits for the result. @throws {ServiceError} 404. */
  async test(projectId: string, webhookId: string, signal: AbortSignal): Promise<WebhookDelivery> {
    const { id: webhook_id, url } = await existingWebhook(this.#query, projectId, webhookId);
    const event: WebhookEvent = { type: "webhook.test", timestamp: new Date().toISOString(), data: { webhook_id } };
    const [id, eventId] = [createId(), createId()];
    const payload = JSON.stringify(event);
    const { queue, sender } = this.#parts;
    await queue.insertTest({ id, webhookId: webhook_id, eventId, type: event.type, payload });
    const attempt = await sender.send({ webhook_id, event_id: eventId, payload, url }, signal);
    const row = await queue.finishTest(id, attempt);
    if (row === undefined) throw ServiceError.of(webhookNotFound(webhookId));
    return toDelivery(row);
  }

  /** Removes old deliveries, also waiting ones of webhooks that stay disabled. */
  async sweep(): Promise<void> {
    const before = new Date(Date.now() - this.#parts.retentionDays() * dayMs).toISOString();
    await this.#query.deleteFrom("webhook_deliveries").where("created_at", "<", before).execute();
    await sql`delete from webhook_deliveries where id in (
      select id from (
        select id, row_number() over (partition by webhook_id order by created_at desc) as place
        from webhook_deliveries where status <> 'pending') as ended
      where place > ${sql.lit(maxKept)})`.execute(this.#query);
  }
}
