import type { Feature } from "../host/feature.ts";
import type { Host } from "../host/host.ts";
import { createIdempotency } from "../http/idempotency/idempotency.ts";

/** Stored answers of repeated POST requests. */
export function idempotencyFeature({ cleanup, config, database, log, secrets, serverId }: Host) {
  const idempotency = createIdempotency({
    database,
    secrets,
    serverId,
    region: config.region,
    retentionMs: config.idempotency_retention_hours * 60 * 60 * 1000,
    log,
  });
  cleanup.add("the stored answers of POST requests", () => {
    idempotency.close();
  });
  return {
    provides: idempotency,
    jobs: [{ name: "old idempotency keys", run: () => idempotency.sweep() }],
  } satisfies Feature;
}
