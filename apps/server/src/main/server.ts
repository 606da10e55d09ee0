import { rmSync } from "node:fs";
import { type ConfigSources, loadConfig } from "../config/config.ts";
import type { Config } from "../config/settings.ts";
import { ServerAddresses } from "../cluster/server-addresses.ts";
import { StartError } from "../config/start-error.ts";
import { openDataDir, refuseUnfinishedRestore } from "../config/data-dir.ts";
import { Cleanup } from "../host/cleanup.ts";
import { refuseSharedHost } from "../http/content-origin.ts";
import { tryAddress } from "../http/listen.ts";
import { createLog } from "../log/log.ts";
import type { RunningServer, StartOptions } from "./running-server.ts";
import { beginToAnswer } from "./start/begin-to-answer.ts";
import type { Started } from "./start/start-host.ts";
import { startService } from "./start/start-service.ts";

/** @throws {StartError} when the service cannot start; nothing remains of the attempt. */
export async function startServer(config: Config, options: StartOptions = {}): Promise<RunningServer> {
  const log = await createLog(config, options.logTo);
  const cleanup = new Cleanup(log);
  try {
    await tryAddresses(config);
    const dataDir = await openDataDir(config.data_dir);
    cleanup.add("the data folder", () => {
      dataDir.release();
    });
    refuseUnfinishedRestore(dataDir.path);
    const [addresses, stopping] = [new ServerAddresses(config.own_addresses), new AbortController()];
    return await start({ config, dataDir, log, cleanup, addresses, stopping }, options);
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

/** @throws {StartError} when an address is unavailable. */
async function tryAddresses({ host, metrics_host, metrics_port = 0, port }: Config): Promise<void> {
  const hosts = new Set([host, metrics_host].map((name) => (name === "localhost" ? "127.0.0.1" : name)));
  if (metrics_port !== 0 && metrics_port === port && (hosts.size === 1 || hosts.has("0.0.0.0") || hosts.has("::")))
    throw new StartError(`Port ${String(port)} is the port of the API, and of the metrics.`, {
      hint: "Choose another port with --metrics-port. With metrics_token alone, the port of the API has /metrics.",
      exitCode: 2,
    });
  await tryAddress(host, port);
  await tryAddress(metrics_host, metrics_port, "--metrics-port");
}

/** Reads the settings and starts the service. @throws {StartError} with a hint and an exit status. */
export async function serve(sources: ConfigSources = {}): Promise<RunningServer> {
  return startServer(loadConfig(sources));
}

async function start(started: Started, options: StartOptions): Promise<RunningServer> {
  const { config } = started;
  refuseSharedHost(config);
  // A script that waits for the ready file must not read the file of an earlier run.
  if (config.ready_file !== undefined) rmSync(config.ready_file, { force: true });
  return beginToAnswer(started, await startService(started, options));
}
