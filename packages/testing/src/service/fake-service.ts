import { copyEmbedded, type Database, openDatabase } from "@shoal/database";
import {
  type Config,
  hashKey,
  loadConfig,
  maskKey,
  readAdminKey,
  type RunningServer,
  startServer,
  writeAdminKey,
} from "@shoal/server";
import { appendFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Writable } from "node:stream";
import type { ScriptedApps } from "../scripts/scripted-apps.ts";
import type { ScriptedSites } from "../scripts/scripted-sites.ts";
import type { ScriptedStores } from "../scripts/scripted-stores.ts";
import { ScriptedPlacement } from "../sessions/scripted-placement.ts";
import { type FakeFolder, openFakeFolder, removeLastAtExit } from "./fake-folder.ts";
import { type Golden, goldenFolder } from "./golden-folder.ts";
import { startError } from "./start-error.ts";

export interface Scripts {
  readonly apps: ScriptedApps;
  readonly sites: ScriptedSites;
  readonly stores: ScriptedStores;
}

/** Each with another golden folder: other processes that start may replace a damaged one, too. */
const maxAttempts = 3;
/** The data of a fake end with it: nothing waits for a disk that others may use. */
const temporarySettings = ["fsync", "full_page_writes", "synchronous_commit"].map((name) => `${name} = off\n`).join("");
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
  readonly baseUrl: string;
  readonly database: Database;
  readonly placement: ScriptedPlacement;
  readonly #folder: FakeFolder;
  readonly #server: RunningServer;

  private constructor(folder: FakeFolder, { database, placement, server }: Started) {
    this.#folder = folder;
    this.#server = server;
    this.baseUrl = server.baseUrl;
    this.database = database;
    this.placement = placement;
  }

  /**
   * @param apiKey - of the whole organisation.
   * @throws {Error} with the next step, if the disk is full, for instance.
   */
  static async start(scripts: Scripts, apiKey: string): Promise<FakeService> {
    for (let attempt = 1; ; attempt++) {
      const golden = await goldenOf(scripts);
      try {
        return await FakeService.#startCopy(golden, scripts, apiKey);
      } catch (error) {
        if (attempt === maxAttempts || !(await golden.isDamaged())) throw error;
        await golden.discard();
      }
    }
  }

  static async #startCopy(golden: Golden, scripts: Scripts, apiKey: string): Promise<FakeService> {
    const parent = tmpdir();
    try {
      const folder = await openFakeFolder(parent, "shoal-fake-");
      try {
        await copyEmbedded(golden.data, dataIn(folder.path));
        await appendFile(join(databaseIn(dataIn(folder.path)), "pgdata", "postgresql.auto.conf"), temporarySettings);
        return new FakeService(folder, await startIn(folder.path, scripts, apiKey));
      } catch (error) {
        await folder[Symbol.asyncDispose]();
        throw error;
      }
    } catch (error) {
      throw startError(error, parent);
    }
  }

  async close(): Promise<void> {
    try {
      await this.#server.close();
    } finally {
      await this.#folder[Symbol.asyncDispose]();
    }
  }
}

interface Started {
  readonly database: Database;
  readonly placement: ScriptedPlacement;
  readonly server: RunningServer;
}

const dataIn = (folder: string): string => join(folder, "data");
const databaseIn = (data: string): string => join(data, "database");

function goldenOf(scripts: Scripts): Promise<Golden> {
  return goldenFolder(async (data) => {
    const { server } = await startIn(dirname(data), scripts);
    await server.close();
  });
}

/** @param apiKey - replaces the admin key of the data: another golden folder has another one. */
async function startIn(folder: string, { apps, sites, stores }: Scripts, apiKey?: string): Promise<Started> {
  const data = dataIn(folder);
  const database = await openDatabase({ dataDir: databaseIn(data), log: silentLog });
  // After PostgreSQL, which ends with this process, too.
  removeLastAtExit();
  try {
    if (apiKey !== undefined) await replaceAdminKey(data, database, apiKey);
    const placement = new ScriptedPlacement(join(folder, "sessions"));
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
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function replaceAdminKey(data: string, database: Database, apiKey: string): Promise<void> {
  const stored = readAdminKey(data);
  if (stored === undefined) throw new Error(`The data of the fake in ${data} have no key.`);
  const hashed = (key: string): Buffer => Buffer.from(hashKey(key), "hex");
  await database.query
    .updateTable("api_keys")
    .set({ key_hash: hashed(apiKey), masked_key: maskKey(apiKey) })
    .where("key_hash", "=", hashed(stored.api_key))
    .execute();
  writeAdminKey(data, { ...stored, api_key: apiKey });
}
