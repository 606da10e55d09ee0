import { invalid, notFound, type Refusal } from "./refusal.ts";

/** Webhooks of a project. */
export const maxWebhooks = 50;

/** 404 for a webhook that the caller cannot see. */
export function webhookNotFound(id: string): Refusal {
  return notFound(`Webhook ${id} was not found in this project.`, "List the webhooks with webhooks.list.");
}

/** 404 for a removed delivery, or a delivery of another webhook. */
export function webhookDeliveryNotFound(id: string): Refusal {
  return notFound(
    `Delivery ${id} of this webhook was not found.`,
    "Old deliveries are removed; list them with webhooks.deliveries.list.",
  );
}

/** 409 for a webhook over the limit of the project. */
export function tooManyWebhooks(): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `This project has ${String(maxWebhooks)} webhooks, the limit.`,
    limit: maxWebhooks,
    hint: "Delete one with webhooks.delete.",
  };
}

/** 409 for sending an event again to a webhook that is disabled. */
export function webhookDisabled(id: string): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `Webhook ${id} is disabled.`,
    hint: "Enable it with webhooks.update first.",
  };
}

/** 400 for an address that cannot receive events. @param problem - follows the field. */
export function invalidWebhookUrl(problem: string, hint: string): Refusal {
  return invalid("body.url", problem, { hint });
}
