import { type Database, openDatabase } from "@shoal/database";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { createKeySecret, hashKey, maskKey } from "../http/auth/api-key-secret.ts";
import { completeConfig } from "../config/config.ts";
import type { Config } from "../config/settings.ts";
import type { Settings } from "../config/settings.ts";
import { createId } from "@shoal/primitives";
import type { RunningServer, StartOptions } from "../main/running-server.ts";
import { startServer } from "../main/server.ts";
import { type DatabaseProxy, startDatabaseProxy } from "./database-proxy.ts";
import { createHttpClient, type HttpClient, type TestReply } from "./http-client.ts";
import { openTestDatabase, silentLog } from "./test-database.ts";
import { unlimited } from "./unlimited.ts";

export type { TestReply };

export interface TestRequest {
  /** Default: the admin key; `null` = no key. */
  readonly key?: string | null;
  /** Sent as JSON; texts and forms are sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface TestServer {
  readonly baseUrl: string;
  readonly key: string;
  readonly dataDir: string;
  /** Bypasses the proxy. */
  readonly database: Database;
  /** Of the database without the proxy. */
  readonly databaseUrl: string;
  /** With `embedded` only. */
  readonly databaseDir: string;
  readonly proxy: DatabaseProxy | undefined;
  readonly running: RunningServer;
  log(): string;
  request(method: string, path: string, request?: TestRequest): Promise<TestReply>;
  addProject(name: string): Promise<{ id: string; key: string }>;
  close(): Promise<void>;
}

/**
 * @param settings - in addition to a free port, the process placement, no warm instances, and no request limits.
 * @param options.embedded - with a separate PostgreSQL, to look at its files and processes.
 * @param options.proxied - connect the service to its database through a {@link DatabaseProxy}.
 */
export async function startTestServer(
  settings: Settings = {},
  options: { readonly embedded?: boolean; readonly proxied?: boolean } & Pick<
    StartOptions,
    "appRuntime" | "aroundPlacement"
  > = {},
): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-server-"));
  const dataDir = join(folder, "data");
  const cleanup = new AsyncDisposableStack();
  cleanup.defer(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const logged = new PassThrough();
  let text = "";
  logged.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const config: Config = completeConfig({
    data_dir: dataDir,
    port: 0,
    placement: "process",
    warm: 0,
    log_level: "debug",
    log_format: "json",
    drain_seconds: 5,
    ...unlimited,
    ...settings,
  });
  try {
    const databaseDir = join(folder, "database");
    const { database, url } = await openTestDatabase(databaseDir, options);
    cleanup.defer(() => database.close());
    const proxy = options.proxied === true ? await startDatabaseProxy(url, folder) : undefined;
    cleanup.defer(() => proxy?.close());
    const running = await startServer(config, {
      logTo: logged,
      ...(options.aroundPlacement && { aroundPlacement: options.aroundPlacement }),
      ...(options.appRuntime && { appRuntime: options.appRuntime }),
      database: proxy === undefined ? database : await openDatabase({ url: proxy.url, dataDir: "", log: silentLog }),
    });
    const key = running.apiKey ?? "";
    const client = createHttpClient();
    cleanup.defer(() => {
      client.close();
    });

    return {
      baseUrl: running.baseUrl,
      key,
      dataDir,
      database,
      databaseUrl: url,
      databaseDir,
      proxy,
      running,
      log: () => text,
      request: (method, path, request = {}) => send(client, method, running.baseUrl + path, { key, ...request }),
      async addProject(name) {
        const id = createId();
        await database.query.insertInto("projects").values({ id, name }).execute();
        const secret = createKeySecret();
        await database.query
          .insertInto("api_keys")
          .values({
            id: createId(),
            name: `key of ${name}`,
            key_hash: Buffer.from(hashKey(secret), "hex"),
            masked_key: maskKey(secret),
            project_id: id,
            created_by_id: "test",
            created_by_email: "test@localhost",
          })
          .execute();
        return { id, key: secret };
      },
      async close() {
        await running.close();
        await cleanup.disposeAsync();
      },
    };
  } catch (error) {
    await cleanup.disposeAsync();
    throw error;
  }
}

function send(
  client: HttpClient,
  method: string,
  url: string,
  { key, body, headers, signal }: TestRequest,
): Promise<TestReply> {
  const sent = body === undefined || typeof body === "string" || body instanceof FormData ? body : JSON.stringify(body);
  return client.send(url, {
    method,
    headers: {
      ...(key != null && { authorization: `Bearer ${key}` }),
      ...(typeof sent === "string" && { "content-type": "application/json" }),
      ...headers,
    },
    body: sent,
    signal,
  });
}
