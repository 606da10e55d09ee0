import { type Database, DatabaseError, isBackedUp, openDatabase } from "@shoal/database";
import { createPlacement, type Placement, PlacementError, type PlacementKind } from "@shoal/placement";
import type { StartOptions } from "../running-server.ts";
import type { ServerAddresses } from "../../cluster/server-addresses.ts";
import { type DataDir, databaseDirectory } from "../../config/data-dir.ts";
import { dockerOptions, kubernetesOptions } from "../../config/placement-options.ts";
import { SettingsInForce } from "../../config/settings-in-force.ts";
import type { Config } from "../../config/settings.ts";
import { StartError } from "../../config/start-error.ts";
import type { Cleanup } from "../../host/cleanup.ts";
import type { Host } from "../../host/host.ts";
import { isLoopback } from "../../http/listen.ts";
import { type Log, partLog } from "../../log/log.ts";
import { openBlobs } from "../../storage/blobs/open-blobs.ts";
import { Envelopes } from "../../storage/envelopes/envelopes.ts";
import { openMasterKeys } from "../../storage/envelopes/master-keys.ts";
import { installationOf } from "../../storage/envelopes/rewrap-command.ts";
import { createSecrets } from "../../storage/secrets.ts";
import { settleSecret } from "./settle-secret.ts";

/** What a start has before it opens anything. */
export interface Started {
  readonly config: Config;
  readonly dataDir: DataDir;
  readonly log: Log;
  readonly cleanup: Cleanup;
  readonly addresses: ServerAddresses;
  /** Aborted when the service stops. */
  readonly stopping: AbortController;
}

export interface StartedHost {
  readonly host: Host;
  readonly placement: Placement;
  readonly serverSecret: string;
}

/**
 * Opens the database, the placement and the stores, which features use. `started.cleanup` closes them.
 * @param given - replace those of the settings.
 * @throws {StartError} also when the placement does not isolate and the service is reachable beyond loopback.
 */
export async function startHost(
  started: Started,
  given: Pick<StartOptions, "database" | "placement">,
): Promise<StartedHost> {
  const { addresses, cleanup, config, dataDir, log, stopping } = started;
  const { database, placement } = await openParts(started, given);
  const serverSecret = await settleSecret(config, dataDir.path, database);
  const host: Host = {
    config,
    settings: new SettingsInForce(config),
    dataDir,
    serverId: dataDir.serverId,
    log,
    cleanup,
    database,
    envelopes: await openEnvelopes(started, database, serverSecret),
    blobs: await openBlobs(config, dataDir.path, mayDeleteFiles(database)),
    secrets: createSecrets(serverSecret, config.previous_secret_keys),
    otherServers: addresses.list,
    isStopping: () => stopping.signal.aborted,
    stopping: stopping.signal,
  };
  return { host, placement, serverSecret };
}

/** Backups of `shoal-server` read an embedded database only. */
function mayDeleteFiles(database: Database): (() => Promise<boolean>) | undefined {
  return database.embedded ? async () => !(await isBackedUp(database)) : undefined;
}

async function openEnvelopes(
  { cleanup, config }: Started,
  database: Database,
  serverSecret: string,
): Promise<Envelopes> {
  const installation = await installationOf(database.query);
  const keys = await openMasterKeys(config, { serverSecret, installation });
  cleanup.add("the master keys", () => keys.close());
  return new Envelopes(keys);
}

function toStartError(error: unknown): unknown {
  if (DatabaseError.isInstance(error)) return new StartError(error.message, { hint: error.hint, cause: error });
  if (!PlacementError.isInstance(error)) return error;
  const hints: Readonly<Record<string, string>> = {
    no_chromium:
      "Install one (on Debian: apt install chromium-headless-shell), or name it with --chromium or SHOAL_CHROMIUM. `shoal doctor` shows the searched places.",
    no_isolation:
      "Install bubblewrap, or choose --placement process, which does not isolate. `shoal doctor` examines the machine.",
  };
  return new StartError(error.message, {
    hint: hints[error.code] ?? "`shoal doctor` examines the machine.",
    cause: error,
  });
}

/** The placement only warns that it does not isolate; beyond loopback, a warning is not enough. */
function refuseUnsafe(config: Config, kind: PlacementKind): void {
  if (kind === "process" && !isLoopback(config.host) && !config.unsafe_no_isolation) {
    throw new StartError(
      `The process placement does not isolate sessions: with a key and a connection to ${config.host}, anyone could read this user's files and run programs as this user.`,
      {
        hint: "Install bubblewrap for the sandbox placement, listen on 127.0.0.1, or accept the risk with --unsafe-no-isolation.",
      },
    );
  }
}

/** In development mode, also every port of this machine's loopback. */
const ownMachine = ["localhost", "*.localhost", "127.0.0.0/8", "::1"];

function reachableHosts({ allow_private_hosts: hosts, dev, host }: Config): readonly string[] {
  if (!dev) return hosts;
  if (!isLoopback(host))
    throw new StartError(
      `Development mode (--dev) lets sessions reach this machine's ports, and the service listens on ${host}.`,
      {
        hint: "Listen on 127.0.0.1, or allow single ports with --allow-private-hosts localhost:3000.",
      },
    );
  return [...hosts, ...ownMachine];
}

async function openParts(
  { addresses, cleanup, config, dataDir, log }: Started,
  given: Pick<StartOptions, "database" | "placement">,
): Promise<{ database: Database; placement: Placement }> {
  const allowPrivateHosts = reachableHosts(config);
  const [database, placement] = await Promise.allSettled([
    given.database ??
      openDatabase({
        ...(config.database_url !== undefined && { url: config.database_url }),
        dataDir: databaseDirectory(dataDir.path),
        log: partLog(log, "database"),
      }),
    given.placement ??
      createPlacement({
        kind: config.placement,
        docker: dockerOptions(config),
        kubernetes: kubernetesOptions(config),
        sessionsDir: dataDir.sessionsDir,
        warm: config.warm === "auto" ? { max: config.warm_max } : config.warm,
        ...(config.session_memory_mb > 0 && { sessionMemoryBytes: config.session_memory_mb * 2 ** 20 }),
        ...(config.session_disk_mb > 0 && { sessionDiskBytes: config.session_disk_mb * 2 ** 20 }),
        ...(config.chromium !== undefined && { chromium: config.chromium }),
        allowPrivateHosts,
        otherServers: addresses.list,
        ...(config.egress_proxy !== undefined && {
          egressProxy: { url: config.egress_proxy, bypassHosts: config.egress_proxy_bypass },
        }),
        egressLimits: {
          connectionsPerSession: config.egress_connections_per_session,
          connectionsPerProject: config.egress_connections_per_project,
          idleMs: config.egress_idle_timeout_seconds * 1000,
        },
        log: partLog(log, "placement"),
      }),
  ]);
  if (database.status === "fulfilled") cleanup.add("the database", () => database.value.close());
  if (placement.status === "fulfilled") cleanup.add("the placement", () => placement.value.close());
  if (database.status === "rejected") throw toStartError(database.reason);
  if (placement.status === "rejected") throw toStartError(placement.reason);
  refuseUnsafe(config, placement.value.kind);
  return { database: database.value, placement: placement.value };
}
