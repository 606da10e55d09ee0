import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhookDeliveries,
  listWebhooks,
  redeliverWebhook,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from "@shoal/contract";
import type {
  CreateWebhook,
  ListWebhookDeliveries,
  ListWebhooks,
  RotateWebhookSecret,
  UpdateWebhook,
  Webhook,
  WebhookDelivery,
} from "@shoal/schemas";
import type { Call, CallOptions, ItemPage, Transport } from "@shoal/transport";

/** Deliveries of webhooks. */
export class WebhookDeliveries {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists deliveries of a webhook, newest first. `for await` iterates over all pages. @throws {ApiError} 404 `not_found`. */
  list(id: string, query: ListWebhookDeliveries = {}, options?: CallOptions): Call<ItemPage<WebhookDelivery>> {
    return this.#transport.call(listWebhookDeliveries, { params: { id }, query }, options);
  }
  /** Sends an event again, with the same `webhook-id`. @throws {ApiError} 404 `not_found`, 409 `conflict` for a disabled webhook. */
  redeliver(id: string, deliveryId: string, options?: CallOptions): Call<WebhookDelivery> {
    return this.#transport.call(redeliverWebhook, { params: { id, delivery_id: deliveryId } }, options);
  }
}

/** Addresses that receive the project's events. */
export class Webhooks {
  readonly #transport: Transport;
  readonly deliveries: WebhookDeliveries;
  constructor(transport: Transport) {
    this.#transport = transport;
    this.deliveries = new WebhookDeliveries(transport);
  }

  /**
   * Creates a webhook. Only this answer and that of `rotateSecret` contain its secret.
   *
   * @example
   * const { secret } = await shoal.webhooks.create({ url: "https://example.com/hooks", event_types: ["auth.needs_human"] });
   *
   * @throws {ApiError} 400 for an address that is not allowed, 409 `conflict` at the limit of the project.
   */
  create(body: CreateWebhook, options?: CallOptions): Call<Webhook> {
    return this.#transport.call(createWebhook, { body }, options);
  }
  /** Lists webhooks, newest first. `for await` iterates over all pages. */
  list(query: ListWebhooks = {}, options?: CallOptions): Call<ItemPage<Webhook>> {
    return this.#transport.call(listWebhooks, { query }, options);
  }
  /** Gets a webhook. @throws {ApiError} 404 `not_found`. */
  get(id: string, options?: CallOptions): Call<Webhook> {
    return this.#transport.call(getWebhook, { params: { id } }, options);
  }
  /** Changes the given fields of a webhook. @throws {ApiError} 404 `not_found`. */
  update(id: string, body: UpdateWebhook, options?: CallOptions): Call<Webhook> {
    return this.#transport.call(updateWebhook, { params: { id }, body }, options);
  }
  /** Deletes a webhook and its deliveries. @throws {ApiError} 404 `not_found`. */
  delete(id: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteWebhook, { params: { id } }, options);
  }
  /** Replaces the secret of a webhook. The previous one stays valid for `grace_seconds`. @throws {ApiError} 404 `not_found`. */
  rotateSecret(id: string, body: RotateWebhookSecret = {}, options?: CallOptions): Call<Webhook> {
    return this.#transport.call(rotateWebhookSecret, { params: { id }, body }, options);
  }
  /** Sends a test event to a webhook and returns the result. @throws {ApiError} 404 `not_found`. */
  test(id: string, options?: CallOptions): Call<WebhookDelivery> {
    return this.#transport.call(testWebhook, { params: { id } }, options);
  }
}
