import { copyEmbedded, type Database, openDatabase } from "@shoal/database";
import { type Config, loadConfig, type RunningServer, startServer } from "@shoal/server";
import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import type { ScriptedApps } from "../scripts/scripted-apps.ts";
import type { ScriptedSites } from "../scripts/scripted-sites.ts";
import type { ScriptedStores } from "../scripts/scripted-stores.ts";
import { ScriptedPlacement } from "../sessions/scripted-placement.ts";
import { goldenFolder } from "./golden-folder.ts";

export interface Scripts {
  readonly apps: ScriptedApps;
  readonly sites: ScriptedSites;
  readonly stores: ScriptedStores;
}

const silent = (): void => undefined;
const silentLog = { debug: silent, info: silent, warn: silent, error: silent };
const loopback = ["localhost", "*.localhost", "127.0.0.0/8", "::1"];

/** Without the limits that are for machines, and without background work of browsers. */
function configOf(dataDir: string): Config {
  return loadConfig({
    cwd: dataDir,
    env: {},
    flags: {
      data_dir: dataDir,
      host: "127.0.0.1",
      port: 0,
      placement: "process",
      warm: 0,
      log_level: "error",
      log_format: "json",
      allow_private_hosts: loopback,
      default_telemetry: ["off"],
      download_retention_hours: 0,
      max_event_loop_delay_ms: 0,
      rate_limit_per_key: 0,
      rate_limit_per_organization: 0,
      rate_limit_per_address: 0,
      drain_seconds: 1,
      shutdown_seconds: 5,
    },
  });
}

/** The service in this process, with an own PostgreSQL, and without browsers. */
export class FakeService {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly database: Database;
  readonly placement: ScriptedPlacement;
  readonly #folder: string;
  readonly #server: RunningServer;

  private constructor(
    folder: string,
    {
      apiKey,
      database,
      placement,
      server,
    }: Pick<FakeService, "apiKey" | "database" | "placement"> & { server: RunningServer },
  ) {
    this.#folder = folder;
    this.#server = server;
    this.apiKey = apiKey;
    this.baseUrl = server.baseUrl;
    this.database = database;
    this.placement = placement;
  }

  static async start(scripts: Scripts): Promise<FakeService> {
    const golden = await goldenFolder(async (data) => {
      const { server } = await startIn(data, scripts);
      await server.close();
    });
    const folder = await mkdtemp(join(tmpdir(), "shoal-fake-data-"));
    const remove = (): void => {
      rmSync(folder, { recursive: true, force: true });
    };
    process.once("exit", remove);
    try {
      await copyEmbedded(golden, join(folder, "data"));
      const started = await startIn(join(folder, "data"), scripts);
      const service = new FakeService(folder, { ...started, apiKey: started.server.apiKey ?? "" });
      service.#forget = () => process.off("exit", remove);
      return service;
    } catch (error) {
      remove();
      process.off("exit", remove);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#server.close();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
    this.#forget();
  }

  #forget: () => unknown = () => undefined;
}

async function startIn(data: string, { apps, sites, stores }: Scripts) {
  const [database, placement] = await Promise.all([
    openDatabase({ dataDir: join(data, "database"), log: silentLog }),
    ScriptedPlacement.open(),
  ]);
  const server = await startServer(configOf(data), {
    appRuntime: apps,
    database,
    logTo: new Writable({
      write(_line, _encoding, done) {
        done();
      },
    }),
    openCredentialProvider: ({ name }) => stores.open(name),
    placement,
    signIn: sites,
  });
  return { database, placement, server };
}
