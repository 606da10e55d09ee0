import { type Database, openDatabase } from "@shoal/database";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod/mini";
import { sharedSecret } from "./second-server.ts";

/** A server that runs as a program of its own. */
export interface ServerProcess {
  readonly baseUrl: string;
  readonly id: string;
  readonly child: ChildProcess;
  /** What it has printed. */
  output(): string;
}

/** Servers over one database, each a program of its own. */
export interface ServerProcesses {
  readonly database: Database;
  readonly key: string;
  start(name: string, settings?: Readonly<Record<string, string>>): Promise<ServerProcess>;
  close(): Promise<void>;
}

const Ready = z.object({ base_url: z.string(), api_key: z.nullable(z.string()) });

/** Starts a database, and the first server, named `one`. */
export async function startServerProcesses(): Promise<ServerProcesses & { readonly one: ServerProcess }> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-servers-"));
  const silent = () => undefined;
  const databaseDir = join(folder, "database");
  const database = await openDatabase({ dataDir: databaseDir, log: { debug: silent, info: silent, warn: silent, error: silent } });
  const running = new Set<ChildProcess>();
  let key = "";

  async function start(name: string, settings: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
    const dataDir = join(folder, name);
    const readyFile = join(folder, `${name}.json`);
    rmSync(readyFile, { force: true });
    const child = spawn(process.execPath, ["--conditions=@shoal/source", join(import.meta.dirname, "serve-process.ts")], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        SHOAL_DATA_DIR: dataDir,
        SHOAL_DATABASE_URL: `postgres:///postgres?host=${encodeURIComponent(join(databaseDir, "run"))}&user=shoal`,
        SHOAL_SECRET_KEY: sharedSecret,
        SHOAL_PORT: "0",
        SHOAL_PLACEMENT: "process",
        SHOAL_WARM: "0",
        SHOAL_MAX_EVENT_LOOP_DELAY_MS: "0",
        SHOAL_LOG_FORMAT: "json",
        SHOAL_READY_FILE: readyFile,
        ...settings,
      },
    });
    running.add(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    const ended = once(child, "close").then(() => {
      throw new Error(`The server ended:\n${output}`);
    });
    const ready = (async () => {
      while (child.exitCode === null && child.signalCode === null) {
        try {
          return Ready.parse(JSON.parse(readFileSync(readyFile, "utf8")));
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
      return ended;
    })();
    const { base_url, api_key } = await Promise.race([ready, ended]);
    ended.catch(silent);
    if (api_key !== null) key = api_key;
    return { baseUrl: base_url, id: readFileSync(join(dataDir, "server-id"), "utf8").trim(), child, output: () => output };
  }

  async function close(): Promise<void> {
    for (const child of running) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, "close");
      child.kill("SIGCONT");
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
      await ended;
      clearTimeout(timer);
    }
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }

  try {
    const one = await start("one");
    return { database, key, one, start, close };
  } catch (error) {
    await close();
    throw error;
  }
}
