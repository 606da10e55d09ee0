import type { Database } from "@shoal/database";
import { createOutboundRule } from "@shoal/placement";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { BuildQueue } from "../../apps/deployments/build-queue.ts";
import { Builder } from "../../apps/deployments/builder.ts";
import { DeploymentStore } from "../../apps/deployments/deployment-store.ts";
import { DeployedApps } from "../../apps/deployments/deployed-apps.ts";
import { Deployments } from "../../apps/deployments/deployments.ts";
import { createRepositoryArchives } from "../../apps/deployments/repository.ts";
import { Invocations } from "../../apps/invocations/invocations.ts";
import { DeploymentKeys } from "../../apps/keys/deployment-keys.ts";
import { type AppLogs, createAppLogs } from "../../apps/logs/app-logs.ts";
import { Schedules } from "../../apps/schedules/schedules.ts";
import { ScheduleTimer } from "../../apps/schedules/schedule-timer.ts";
import type { AppRuntime } from "../../apps/runtime/app-runtime.ts";
import { createParsePool } from "../../storage/parsing/parse-pool.ts";
import type { Envelopes } from "../../storage/envelopes/envelopes.ts";
import type { Rules } from "../rules.ts";
import type { Started } from "./open-parts.ts";
import type { ResourceParts } from "./open-resources.ts";
import type { SessionParts } from "./open-sessions.ts";

/** Large archives take longer to unpack than other data to parse. */
const unpackMs = 120_000;

export interface AppsParts {
  readonly appLogs: AppLogs;
  readonly builder: Builder;
  readonly deployments: Deployments;
  readonly invocations: Invocations;
  readonly schedules: Schedules;
}

export async function openApps(
  started: Started,
  parts: {
    readonly database: Database;
    readonly resources: ResourceParts;
    readonly runtime: AppRuntime;
    readonly rules: Rules;
    readonly envelopes: Envelopes;
    readonly sessions: SessionParts;
  },
): Promise<AppsParts> {
  const { database, envelopes, rules, sessions } = parts;
  const { dataDir, log } = started;
  const { serverId } = dataDir;
  const appLogs = createAppLogs({ database, log });
  const store = new DeploymentStore(database, envelopes);
  const invocations = new Invocations({
    database,
    runtime: parts.runtime,
    apps: new DeployedApps(database, store),
    keys: new DeploymentKeys(database, envelopes),
    logs: appLogs,
    rules: rules.invocations,
    serverId,
    isDoubtful: () => sessions.replicas.isDoubtful(),
    isDraining: () => sessions.sessions.isDraining,
    log,
  });
  const lost = await invocations.store.endLost(serverId);
  if (lost > 0) log.warn({ invocations: lost }, "ended invocations of an earlier run that did not stop properly");
  const schedules = new Schedules(database, () => rules.inForce.min_schedule_seconds);
  const timer = new ScheduleTimer(database, log);
  started.cleanup.add("schedules of apps", () => timer.close());
  return {
    appLogs,
    invocations,
    schedules,
    ...openDeployments(started, {
      ...parts,
      logs: appLogs,
      store,
      onRunning: (id) => {
        invocations.prepare(id);
      },
    }),
  };
}

/** Starts to build what waits. The server must be registered. */
function openDeployments(
  { config, cleanup, dataDir, log, otherServers }: Started,
  parts: {
    readonly database: Database;
    readonly resources: Pick<ResourceParts, "blobs">;
    readonly rules: Rules;
    readonly logs: AppLogs;
    readonly runtime: Pick<AppRuntime, "build" | "has" | "remove">;
    readonly store: DeploymentStore;
    readonly onRunning: (deploymentId: string) => void;
  },
): Pick<AppsParts, "builder" | "deployments"> {
  const { database, logs, onRunning, rules, runtime, store } = parts;
  const folder = join(dataDir.path, "builds");
  // A killed server left them.
  rmSync(folder, { recursive: true, force: true });
  const parsing = createParsePool({ runMs: unpackMs });
  cleanup.add("the workers that unpack archives", () => parsing.close());
  const blobs = parts.resources.blobs("deployments");
  const deployments = new Deployments({
    database,
    store,
    blobs,
    logs,
    runtime,
    onRunning,
    unknownFields: config.unknown_fields,
    logRetentionDays: () => rules.inForce.app_log_retention_days,
  });
  const builder = new Builder({
    database,
    queue: new BuildQueue(database, dataDir.serverId),
    store,
    blobs,
    parsing,
    repositories: createRepositoryArchives(
      config.github_api_url,
      createOutboundRule({ allowPrivateHosts: config.allow_private_hosts, otherServers: otherServers.list }),
    ),
    runtime,
    onRunning,
    minScheduleSeconds: () => rules.inForce.min_schedule_seconds,
    folder,
    logs,
    concurrency: config.max_builds,
    log,
  });
  cleanup.add("builds of apps", () => builder.close());
  return { builder, deployments };
}
