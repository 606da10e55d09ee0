import type { Database } from "@shoal/database";
import { createOutboundRule } from "@shoal/placement";
import type { Config } from "../config/settings.ts";
import type { Log } from "../log/log.ts";
import type { Envelopes } from "../storage/envelopes/envelopes.ts";
import { Deliveries } from "./deliveries.ts";
import { DeliveryQueue } from "./delivery-queue.ts";
import { DeliverySender } from "./delivery-sender.ts";
import { DeliveryWorker } from "./delivery-worker.ts";
import { webhookHandlers } from "./handlers.ts";
import { SigningSecrets } from "./signing-secrets.ts";
import { Webhooks } from "./webhooks.ts";

export interface WebhookParts {
  readonly webhookDeliveries: Pick<Deliveries, "sweep">;
  readonly webhookHandlers: ReturnType<typeof webhookHandlers>;
}

/** Starts to send deliveries. */
export function openWebhooks(
  config: Pick<Config, "allow_private_hosts">,
  parts: {
    readonly database: Database;
    readonly envelopes: Envelopes;
    /** Addresses of the other servers. */
    readonly otherServers: () => Iterable<string>;
    readonly retentionDays: () => number;
    readonly log: Log;
    readonly onClose: (what: string, close: () => void | Promise<void>) => void;
  },
): WebhookParts {
  const { database, envelopes, log, onClose, otherServers, retentionDays } = parts;
  const rule = createOutboundRule({ allowPrivateHosts: config.allow_private_hosts, otherServers });
  const secrets = new SigningSecrets(database, envelopes);
  onClose(
    "the change feed of webhooks",
    database.onChange((change) => {
      if (change === undefined || change.table === "webhooks") secrets.forget(change?.id);
    }),
  );
  const queue = new DeliveryQueue(database);
  const sender = new DeliverySender(rule, secrets);
  const deliveries = new Deliveries({ database, queue, sender, retentionDays });
  const worker = new DeliveryWorker({ database, queue, sender, log });
  onClose("deliveries of webhooks", () => worker.close());
  return {
    webhookDeliveries: deliveries,
    webhookHandlers: webhookHandlers(new Webhooks({ database, rule, secrets }), deliveries),
  };
}
