import type { Database } from "@shoal/database";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod/mini";
import { sharedSecret } from "./second-server.ts";
import { openTestDatabase, type TestDatabase } from "./test-database.ts";

export interface ServerProcess {
  readonly baseUrl: string;
  readonly id: string;
  readonly child: ChildProcess;
  output(): string;
}

const Ready = z.object({ base_url: z.string(), api_key: z.nullable(z.string()) });

/** Starts a database, and the first server, named `one`. */
export async function startServerProcesses(
  settings: Readonly<Record<string, string>> = {},
): Promise<ServerProcesses & { readonly one: ServerProcess }> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-servers-"));
  const servers = new ServerProcesses(folder, await openTestDatabase(join(folder, "database")));
  try {
    return Object.assign(servers, { one: await servers.start("one", settings) });
  } catch (error) {
    await servers.close();
    throw error;
  }
}

const silent = () => undefined;

export class ServerProcesses {
  readonly database: Database;
  readonly #folder: string;
  readonly #databaseUrl: string;
  readonly #running = new Set<ChildProcess>();
  #key = "";

  constructor(folder: string, { database, url }: TestDatabase) {
    this.#folder = folder;
    this.database = database;
    this.#databaseUrl = url;
  }

  get key(): string {
    return this.#key;
  }

  dataDirOf(name: string): string {
    return join(this.#folder, name);
  }

  async start(name: string, settings: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
    const dataDir = this.dataDirOf(name);
    const readyFile = join(this.#folder, `${name}.json`);
    rmSync(readyFile, { force: true });
    const child = this.#spawn({ SHOAL_DATA_DIR: dataDir, SHOAL_READY_FILE: readyFile, ...settings });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => (output += text));
    const ended = once(child, "close").then(() => {
      throw new Error(`The server ended:\n${output}`);
    });
    const { base_url, api_key } = await Promise.race([readWhenReady(readyFile, child), ended]);
    ended.catch(silent);
    if (api_key !== null) this.#key = api_key;
    return {
      baseUrl: base_url,
      id: readFileSync(join(dataDir, "server-id"), "utf8").trim(),
      child,
      output: () => output,
    };
  }

  async close(): Promise<void> {
    for (const child of this.#running) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, "close");
      child.kill("SIGCONT");
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
      await ended;
      clearTimeout(timer);
    }
    await this.database.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #spawn(settings: Readonly<Record<string, string>>): ChildProcess {
    const script = join(import.meta.dirname, "serve-process.ts");
    const child = spawn(process.execPath, ["--conditions=@shoal/source", script], {
      cwd: this.#folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        SHOAL_DATABASE_URL: this.#databaseUrl,
        SHOAL_SECRET_KEY: sharedSecret,
        SHOAL_PORT: "0",
        SHOAL_PLACEMENT: "process",
        SHOAL_WARM: "0",
        SHOAL_MAX_EVENT_LOOP_DELAY_MS: "0",
        SHOAL_LOG_FORMAT: "json",
        SHOAL_DEFAULT_TELEMETRY: "off",
        ...settings,
      },
    });
    this.#running.add(child);
    return child;
  }
}

/** Never resolves if the process ends first. */
async function readWhenReady(readyFile: string, child: ChildProcess): Promise<z.output<typeof Ready>> {
  while (child.exitCode === null && child.signalCode === null) {
    try {
      return Ready.parse(JSON.parse(readFileSync(readyFile, "utf8")));
    } catch {
      const retryMs = 50;
      await delay(retryMs);
    }
  }
  return new Promise<never>(() => undefined);
}
