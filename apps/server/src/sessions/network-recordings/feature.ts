import { join } from "node:path";
import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { partLog } from "../../log/log.ts";
import { NetworkRecordings } from "./network-recordings.ts";

/** Records what browsers get from the network, and replays it. */
export async function networkRecordingsFeature({ blobs, config, database, dataDir, log, secrets, serverId }: Host) {
  const recordings = new NetworkRecordings({
    database,
    blobs: blobs("network-recordings"),
    secrets,
    folder: join(dataDir.path, "network-recordings"),
    serverId,
    retentionDays: config.replay_retention_days,
    quota: { maxRunning: config.replay_max_running, maxBytes: config.replay_max_gib * 2 ** 30 },
    log: partLog(log, "network-recordings"),
  });
  await recordings.recover();
  const handlers: Handlers<OperationsOf<"networkRecordings">, Access> = {
    listNetworkRecordings: ({ query, context }) => recordings.list(context.projectId, query),
    getNetworkRecording: ({ params, context }) => recordings.get(context.projectId, params.id),
    deleteNetworkRecording: ({ params, context }) => recordings.delete(context.projectId, params.id),
  };
  return {
    provides: recordings,
    handlers,
    jobs: [{ name: "old recordings of networks", run: () => recordings.clean() }],
    stop: () => recordings.settled(),
  } satisfies Feature;
}
