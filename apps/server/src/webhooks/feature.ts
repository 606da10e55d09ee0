import { createOutboundRule } from "@shoal/placement";
import type { Feature } from "../host/feature.ts";
import type { Host } from "../host/host.ts";
import { partLog } from "../log/log.ts";
import { Deliveries } from "./deliveries.ts";
import { DeliveryQueue } from "./delivery-queue.ts";
import { DeliverySender } from "./delivery-sender.ts";
import { DeliveryWorker } from "./delivery-worker.ts";
import { webhookHandlers } from "./handlers.ts";
import { SigningSecrets } from "./signing-secrets.ts";
import { Webhooks } from "./webhooks.ts";

/** Starts to send deliveries. */
export function webhooksFeature({ cleanup, config, database, envelopes, log, otherServers, settings }: Host) {
  const rule = createOutboundRule({ allowPrivateHosts: config.allow_private_hosts, otherServers });
  const secrets = new SigningSecrets(database, envelopes);
  const queue = new DeliveryQueue(database);
  const sender = new DeliverySender(rule, secrets);
  const retentionDays = () => settings.inForce.webhook_retention_days;
  const deliveries = new Deliveries({ database, queue, sender, retentionDays });
  const worker = new DeliveryWorker({ database, queue, sender, log: partLog(log, "webhooks") });
  cleanup.add("deliveries of webhooks", () => worker.close());
  return {
    handlers: webhookHandlers(new Webhooks({ database, rule, secrets }), deliveries),
    changes: {
      webhooks: (id: string | undefined) => {
        secrets.forget(id);
      },
    },
    jobs: [{ name: "old deliveries of webhooks", run: () => deliveries.sweep() }],
  } satisfies Feature;
}
