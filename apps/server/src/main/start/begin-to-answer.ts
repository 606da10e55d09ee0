import { rmSync } from "node:fs";
import { replicaAddress } from "../../cluster/replica-address.ts";
import { adminKeyPath } from "../../config/admin-key.ts";
import { listen } from "../../http/listen.ts";
import type { RunningServer } from "../running-server.ts";
import { writeReadyFile } from "./ready-file.ts";
import { RunningService } from "./running-service.ts";
import { settleAdminKey } from "./settle-admin-key.ts";
import { settleAuditHead } from "./settle-audit-head.ts";
import type { Started } from "./start-host.ts";
import type { Service } from "./start-service.ts";

/** Listens, settles the audit log and the admin key, and announces the address. @throws {StartError} */
export async function beginToAnswer(started: Started, service: Service): Promise<RunningServer> {
  const { config, log } = started;
  const { app, features, host, placement } = service;
  const { replicas } = features.cluster.provides;
  const { chain, recorder } = features.auditLog.provides;
  const metricsUrl = await features.observability.provides.listen();
  const baseUrl = await listen(app, config.host, config.port);
  await replicas.announce(config.replica_url ?? replicaAddress(baseUrl, config.host));
  await settleAuditHead({ config, chain, recorder, log }, baseUrl);
  const { apiKeys } = features.apiKeys.provides;
  const { apiKey, isNew } = await settleAdminKey({ config, apiKeys, recorder, log }, baseUrl);
  features.limits.provides.overload.reset();
  announceReady(started, { baseUrl, apiKey });
  log.info(
    {
      base_url: baseUrl,
      region: config.region,
      placement: placement.kind,
      database: host.database.embedded ? "embedded" : "external",
      data_dir: config.data_dir,
    },
    "the service answers",
  );
  return new RunningService(started, service, {
    apiKey,
    baseUrl,
    metricsUrl,
    newAdminKey: isNew && apiKey !== undefined ? { apiKey, path: adminKeyPath(config.data_dir) } : undefined,
  });
}

function announceReady(
  { config, cleanup }: Started,
  { baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey: string | undefined },
): void {
  const path = config.ready_file;
  if (path === undefined) return;
  cleanup.add("the ready file", () => {
    rmSync(path, { force: true });
  });
  writeReadyFile(path, { base_url: baseUrl, api_key: apiKey ?? null, pid: process.pid });
}
