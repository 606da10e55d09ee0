import * as z from "zod/mini";
import { pageFields, Timestamp } from "../base/common.ts";
import { checked, lazyObject, noNul, openEnum, type Schema } from "../base/schema.ts";
import { checkedLater } from "../base/rules.ts";
import { webAddress } from "../base/site-name.ts";

/** Types of events that webhooks can select. */
export const webhookEventTypes = [
  "auth.needs_human",
  "auth.signed_in",
  "auth.signed_out",
  "browser.ended",
  "browser_pool.empty",
  "browser_pool.failing",
  "browser_pool.filled",
  "deployment.failed",
  "deployment.running",
  "deployment.stopped",
  "download.finished",
  "flow_run.diverged",
  "flow_run.finished",
  "handoff.canceled",
  "handoff.expired",
  "handoff.released",
  "handoff.requested",
  "handoff.taken",
  "invocation.failed",
  "invocation.succeeded",
] as const;

const address = () =>
  checked(
    z.string(),
    z.maxLength(2048),
    z.regex(/^https?:\/\/[^\s#]+$/i, "expected an https or http address"),
    checkedLater({ keywords: { pattern: webAddress } }),
  );
const eventTypes = () => checked(z.array(z.enum(webhookEventTypes)), z.maxLength(100));
const description = () => checked(z.string(), z.maxLength(1024), noNul());
const Secret: Schema<string> = z.lazy(() =>
  checked(
    z.string(),
    z.regex(
      /^whsec_(?:(?:[A-Za-z0-9+/]{4}){8,20}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?|(?:[A-Za-z0-9+/]{4}){21}(?:[A-Za-z0-9+/]{2}==)?)$/,
      "expected whsec_ and 24 to 64 bytes in base64",
    ),
  ),
);

/** An address that receives events of the project. */
export interface Webhook extends z.output<typeof Webhook> {}
export const Webhook = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** Receives a POST for each event. */
  url: z.string(),
  /** Types that it receives; empty = all. */
  event_types: z.array(openEnum(...webhookEventTypes)),
  /** Description. */
  description: z.optional(z.string()),
  /** Whether events are sent to it. */
  enabled: z.boolean(),
  /** Why the service disabled it; absent if it is enabled, or was disabled by a request. */
  disabled_reason: z.optional(z.string()),
  /** The key of its signatures. Only in the answers of `webhooks.create` and `webhooks.rotateSecret`. */
  secret: z.optional(z.string()),
  /** End of the time in which deliveries also have a signature of the previous secret; absent without one. */
  previous_secret_expires_at: z.optional(Timestamp),
  /** The first failure since the last success; absent while deliveries succeed. */
  failing_since: z.optional(Timestamp),
  /** When an event was last dropped because too many deliveries waited; absent if never. */
  dropped_at: z.optional(Timestamp),
  /** Creation time. */
  created_at: Timestamp,
  /** When it was last changed. */
  updated_at: Timestamp,
}));

/** Input of `webhooks.create`. */
export interface CreateWebhook extends z.input<typeof CreateWebhook> {}
export const CreateWebhook = lazyObject(() => ({
  /** Address for the events, up to 2048 characters; https, or http for private hosts that the operator allows. */
  url: address(),
  /** Types to receive; empty = all, including types of later versions. */
  event_types: z._default(eventTypes(), []),
  /** Description, up to 1024 characters. */
  description: z.optional(description()),
  /** Key of the signatures: `whsec_` and 24 to 64 bytes in base64. Default: a new one. */
  secret: z.optional(Secret),
}));

/** Input of `webhooks.update`. */
export interface UpdateWebhook extends z.input<typeof UpdateWebhook> {}
export const UpdateWebhook = lazyObject(() => ({
  /** The new address, as in `webhooks.create`. */
  url: z.optional(address()),
  /** The types to receive from now on; empty = all. */
  event_types: z.optional(eventTypes()),
  /** The new description, up to 1024 characters; empty = none. */
  description: z.optional(description()),
  /** Whether to send events. A disabled webhook misses new events; its waiting deliveries continue when it is enabled. */
  enabled: z.optional(z.boolean()),
}));

/** Input of `webhooks.list`. */
export interface ListWebhooks extends z.input<typeof ListWebhooks> {}
export const ListWebhooks = lazyObject(() => ({
  ...pageFields,
  /** Part of an address or description, case does not matter, or a whole id. */
  query: z.optional(z.string()),
}));

/** Input of `webhooks.rotateSecret`. */
export interface RotateWebhookSecret extends z.input<typeof RotateWebhookSecret> {}
export const RotateWebhookSecret = lazyObject(() => ({
  /** The new secret, as in `webhooks.create`. Default: a new one. */
  secret: z.optional(Secret),
  /** Seconds in which deliveries also have a signature of the previous secret, 0 to 604800. */
  grace_seconds: z._default(checked(z.int(), z.minimum(0), z.maximum(604_800)), 86_400),
}));

/** An event that is sent to a webhook. */
export interface WebhookDelivery extends z.output<typeof WebhookDelivery> {}
export const WebhookDelivery = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** Identifier of the event, the header `webhook-id`; the same in each attempt. */
  event_id: z.string(),
  /** Type of the event. */
  event_type: openEnum(...webhookEventTypes, "webhook.test"),
  /** The body, JSON as text. */
  payload: z.string(),
  /** `pending` ones wait for their next attempt. */
  status: openEnum("pending", "succeeded", "failed"),
  /** Number of attempts so far. */
  attempts: z.int(),
  /** Time of the next attempt; absent unless it is pending. */
  next_attempt_at: z.optional(Timestamp),
  /** Time of the latest attempt; absent before the first one. */
  last_attempt_at: z.optional(Timestamp),
  /** HTTP status of the latest answer; absent without an answer. */
  response_status: z.optional(z.int()),
  /** Milliseconds of the latest attempt. */
  duration_ms: z.optional(z.int()),
  /** Why the latest attempt failed. */
  error: z.optional(z.string()),
  /** Time of the event. */
  created_at: Timestamp,
}));

/** Input of `webhooks.deliveries.list`. */
export interface ListWebhookDeliveries extends z.input<typeof ListWebhookDeliveries> {}
export const ListWebhookDeliveries = lazyObject(() => ({
  ...pageFields,
  /** Only deliveries with this status. */
  status: z.optional(z.enum(["pending", "succeeded", "failed"])),
  /** Only events of this type. */
  event_type: z.optional(z.enum([...webhookEventTypes, "webhook.test"])),
}));
