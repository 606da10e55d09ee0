import type { Database } from "@shoal/database";
import type { Log } from "../log/log.ts";
import { Lookout } from "../work/lookout.ts";
import type { ClaimedDelivery, DeliveryQueue } from "./delivery-queue.ts";
import type { DeliverySender } from "./delivery-sender.ts";

/** Retries become due without a notification. */
const lookEveryMs = 1000;
const maxRunning = 32;
const maxPerHost = 4;

export interface DeliveryWorkerParts {
  readonly database: Pick<Database, "onChange">;
  readonly queue: DeliveryQueue;
  readonly sender: DeliverySender;
  readonly log: Log;
}

/** Sends due deliveries from this server: a bounded number at once, and of those a few to one host. */
export class DeliveryWorker {
  readonly #parts: DeliveryWorkerParts;
  readonly #running = new Map<string, { readonly host: string; readonly done: Promise<void> }>();
  readonly #stop = new AbortController();
  readonly #lookout: Lookout;
  readonly #unlisten: () => void;

  constructor(parts: DeliveryWorkerParts) {
    this.#parts = parts;
    this.#lookout = new Lookout({
      everyMs: lookEveryMs,
      look: () => this.#claim(),
      log: parts.log,
      problem: "due deliveries of webhooks could not be claimed",
    });
    this.#unlisten = parts.database.onChange((change) => {
      if (change === undefined || change.table === "webhook_deliveries") this.#lookout.look();
    });
  }

  /** Aborts running attempts; other servers, or the next start, repeat them. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#unlisten();
    await this.#lookout.close();
    const ids = [...this.#running.keys()];
    await Promise.all([...this.#running.values()].map(({ done }) => done));
    await this.#parts.queue.putBack(ids).catch((error: unknown) => {
      this.#parts.log.warn({ err: error }, "aborted deliveries of webhooks wait until their lease ends");
    });
  }

  async #claim(): Promise<void> {
    const count = maxRunning - this.#running.size;
    if (count <= 0) return;
    const busy = new Map<string, number>();
    for (const { host } of this.#running.values()) busy.set(host, (busy.get(host) ?? 0) + 1);
    for (const claimed of await this.#parts.queue.claim({ busy, count, perHost: maxPerHost })) this.#start(claimed);
  }

  #start(claimed: ClaimedDelivery): void {
    const done = this.#deliver(claimed).finally(() => {
      this.#running.delete(claimed.id);
      // Its place is free.
      this.#lookout.look();
    });
    this.#running.set(claimed.id, { host: claimed.host, done });
  }

  /** Never rejects. */
  async #deliver(claimed: ClaimedDelivery): Promise<void> {
    const { log, queue, sender } = this.#parts;
    const { id: delivery_id, webhook_id } = claimed;
    try {
      const attempt = await sender.send(claimed, this.#stop.signal);
      const disabled = await queue.finish(claimed, attempt);
      log.debug({ webhook_id, delivery_id, status: attempt.status, error: attempt.error }, "sent to a webhook");
      if (disabled !== undefined) log.warn({ webhook_id, reason: disabled }, "a webhook was disabled");
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      // The delivery is repeated when its lease ends.
      log.warn({ webhook_id, delivery_id, err: error }, "the result of a delivery could not be stored");
    }
  }
}
