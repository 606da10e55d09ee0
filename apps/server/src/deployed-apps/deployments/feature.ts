import { createOutboundRule } from "@shoal/placement";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { ParsePool } from "../../storage/parsing/parse-pool.ts";
import type { AppLogs } from "../logs/app-logs.ts";
import type { AppRuntime } from "../runtime/app-runtime.ts";
import { BuildQueue } from "./build-queue.ts";
import { Builder } from "./builder.ts";
import type { DeploymentStore } from "./deployment-store.ts";
import { Deployments } from "./deployments.ts";
import { deploymentHandlers } from "./handlers.ts";
import { RepositoryArchives } from "./repository.ts";

interface DeploymentNeeds {
  readonly logs: AppLogs;
  readonly runtime: AppRuntime;
  readonly store: DeploymentStore;
  readonly onRunning: (deploymentId: string) => void;
}

/** Large archives take longer to unpack than other data to parse. */
const unpackMs = 120_000;

/** Starts to build what waits. The server must be registered. */
export function deploymentsFeature(host: Host, needs: DeploymentNeeds) {
  const { blobs, cleanup, config, database, dataDir, log, serverId, settings } = host;
  const folder = join(dataDir.path, "builds");
  // A killed server left them.
  rmSync(folder, { recursive: true, force: true });
  const parsing = new ParsePool({ runMs: unpackMs });
  cleanup.add("the workers that unpack archives", () => parsing.close());
  const own = { ...needs, blobs: blobs("deployments"), database };
  const deployments = new Deployments({
    ...own,
    unknownFields: config.unknown_fields,
    logRetentionDays: () => settings.inForce.app_log_retention_days,
  });
  const builder = new Builder({
    ...own,
    queue: new BuildQueue(database, serverId),
    parsing,
    repositories: new RepositoryArchives(
      config.github_api_url,
      createOutboundRule({ allowPrivateHosts: config.allow_private_hosts, otherServers: host.otherServers }),
    ),
    minScheduleSeconds: () => settings.inForce.min_schedule_seconds,
    folder,
    concurrency: config.max_builds,
    log,
  });
  cleanup.add("builds of apps", () => builder.close());
  return {
    handlers: deploymentHandlers(deployments),
    jobs: [{ name: "log lines and builds of apps", run: () => deployments.sweep() }],
    stop: () => builder.close(),
  } satisfies Feature;
}
