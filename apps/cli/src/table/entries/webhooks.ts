import type { CommandEntry } from "../../core/types.ts";

const exampleId = "m3x1p0v2k7c9q5w8z6t4r2yh";
const deliveryId = "e9d3c1b7a5f2e8d4c6b0a1f3";
const id = ["ID", "id"] as const;
const enabled = ["ENABLED", "enabled"] as const;
const secretOnce = "The secret is shown here, and not again.";

export const webhookEntries: Readonly<Record<string, CommandEntry>> = {
  "webhooks.create": {
    summary: "Create a webhook",
    about: `Sends events of the project to an address, with a signature. ${secretOnce}`,
    help: {
      url: "Address that receives a POST for each event",
      event_types: "Types to receive; default: all",
      secret: "Key of the signatures: whsec_ and base64; default: a new one",
    },
    first: ["id", "secret"],
    examples: ["shoal webhooks create --url https://example.com/hooks --event-types auth.needs_human,browser.ended"],
  },
  "webhooks.list": {
    summary: "List webhooks",
    about: "Newest first.",
    help: { query: "Part of an address or description, or a whole ID" },
    columns: [id, ["URL", "url"], ["EVENTS", "event_types"], enabled, ["FAILING SINCE", "failing_since"]],
    flags: { query: "--search" },
    empty: "No webhooks. Create one: shoal webhooks create --url https://example.com/hooks",
    examples: ["shoal webhooks list"],
  },
  "webhooks.get": {
    summary: "Show a webhook",
    first: ["id", "url"],
    examples: [`shoal webhooks get ${exampleId}`],
  },
  "webhooks.update": {
    summary: "Change a webhook",
    about: "A disabled webhook misses new events.",
    help: {
      url: "New address; waiting deliveries go there",
      event_types: "Types to receive from now on",
      enabled: "Send events, or stop sending them",
    },
    first: ["id", "enabled"],
    examples: [`shoal webhooks update ${exampleId} --no-enabled`, `shoal webhooks update ${exampleId} --enabled`],
  },
  "webhooks.delete": {
    summary: "Delete a webhook",
    confirm: "Delete webhook {0} and its deliveries?",
    done: "Deleted webhook {0}.",
    examples: [`shoal webhooks delete ${exampleId} --yes`],
  },
  "webhooks.rotateSecret": {
    summary: "Replace the secret of a webhook",
    about: `Deliveries have a signature of both secrets for --grace-seconds. ${secretOnce}`,
    help: {
      secret: "The new secret: whsec_ and base64; default: a new one",
      grace_seconds: "Seconds in which the previous secret stays valid, 0 to 604800; default: 86400",
    },
    first: ["id", "secret"],
    examples: [`shoal webhooks rotate-secret ${exampleId} --grace-seconds 3600`],
  },
  "webhooks.test": {
    summary: "Send a test event to a webhook",
    first: ["id", "status", "response_status", "error"],
    examples: [`shoal webhooks test ${exampleId}`],
  },
  "webhooks.deliveries.list": {
    summary: "List deliveries of a webhook",
    about: "Newest first.",
    help: { event_type: "Filter by type of event", status: "Filter by status" },
    columns: [
      id,
      ["EVENT", "event_type"],
      ["STATUS", "status"],
      ["ATTEMPTS", "attempts"],
      ["ANSWER", "response_status"],
      ["MS", "duration_ms"],
      ["NEXT", "next_attempt_at"],
      ["ERROR", "error"],
    ],
    empty: "No deliveries.",
    examples: [`shoal webhooks deliveries list ${exampleId} --status failed`],
  },
  "webhooks.deliveries.redeliver": {
    summary: "Send an event to a webhook again",
    about: "At once, with the same webhook-id.",
    first: ["id", "status"],
    examples: [`shoal webhooks deliveries redeliver ${exampleId} ${deliveryId}`],
  },
};
