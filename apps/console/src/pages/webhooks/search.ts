import { webhookEventTypes } from "@shoal/schemas";
import * as z from "zod/mini";

export const deliveryStatuses = ["pending", "succeeded", "failed"] as const;

const optionalText = z.catch(z.optional(z.string()), undefined);

export const WebhookSearch = z.object({
  status: z.catch(z.optional(z.enum(deliveryStatuses)), undefined),
  type: z.catch(z.optional(z.enum([...webhookEventTypes, "webhook.test"])), undefined),
  delivery: optionalText,
});
