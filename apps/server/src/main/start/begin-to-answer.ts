import { rmSync } from "node:fs";
import { replicaAddress } from "../../cluster/replica-address.ts";
import { adminKeyPath } from "../../config/admin-key.ts";
import { listen } from "../../http/listen.ts";
import type { RunningServer } from "../running-server.ts";
import type { Started } from "./open-parts.ts";
import type { Service } from "./open-service.ts";
import { writeReadyFile } from "./ready-file.ts";
import { RunningService } from "./running-service.ts";
import { settleAdminKey } from "./settle-admin-key.ts";
import { settleAuditHead } from "./settle-audit-head.ts";

/** Listens, settles the audit log and the admin key, and announces the address. @throws {StartError} */
export async function beginToAnswer(started: Started, service: Service): Promise<RunningServer> {
  const { config, cleanup, log } = started;
  const { app, audit, database, observation, overload, placement, sessions } = service;
  const metricsUrl = await observation.listen();
  const baseUrl = await listen(app, config.host, config.port);
  await sessions.replicas.announce(config.replica_url ?? replicaAddress(baseUrl, config.host));
  await settleAuditHead({ config, ...audit, log }, baseUrl);
  const { apiKey, isNew } = await settleAdminKey(
    { config, apiKeys: service.access.apiKeys, recorder: audit.recorder, log },
    baseUrl,
  );
  overload.reset();
  announceReady(started, { baseUrl, apiKey });
  log.info(
    {
      base_url: baseUrl,
      region: config.region,
      placement: placement.kind,
      database: database.embedded ? "embedded" : "external",
      data_dir: config.data_dir,
    },
    "the service answers",
  );
  return new RunningService({
    ...service,
    ...sessions,
    announceDrain: (forMs) => sessions.replicas.announceDrain(forMs),
    apiKey,
    baseUrl,
    cleanup,
    log,
    metricsUrl,
    newAdminKey: isNew && apiKey !== undefined ? { apiKey, path: adminKeyPath(config.data_dir) } : undefined,
    placement: placement.kind,
    server: app.server,
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
