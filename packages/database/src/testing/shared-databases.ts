import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { connectionConfig, type Target } from "../connect.ts";
import { startEmbedded } from "../embedded/embedded-postgres.ts";
import { openDatabase } from "../open-database.ts";

/** Tests that run at once have several services each, with up to 12 connections. */
const maxConnections = 400;
const template = "shoal_template";
const silent = (): void => undefined;
const log = { debug: silent, info: silent, warn: silent, error: silent };

interface SharedServer {
  create(): Promise<string>;
  drop(name: string): Promise<void>;
  stop(): Promise<void>;
}

async function runOn(target: Target, ...statements: string[]): Promise<void> {
  const client = new Client(connectionConfig(target));
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Its data is lost with the machine: nothing waits for the disk. */
async function startServer(): Promise<SharedServer> {
  const directory = await mkdtemp(join(tmpdir(), "shoal-databases-"));
  const removeFiles = (): void => {
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  };
  // Vitest does not wait longer than `teardownTimeout`, nor after a second Ctrl-C.
  process.once("exit", removeFiles);
  const { platform, arch } = process;
  const options = { directory, log, platform, arch, tcp: platform === "win32" };
  const first = await startEmbedded(options);
  const settings = { fsync: "off", full_page_writes: "off", synchronous_commit: "off", autovacuum: "off" };
  await runOn(
    first.target,
    ...Object.entries({ ...settings, max_connections: String(maxConnections) }).map(
      ([name, value]) => `alter system set ${name} = '${value}'`,
    ),
  );
  await first.stop();
  const postgres = await startEmbedded(options);
  const { target } = postgres;
  if ("url" in target) throw new Error("The embedded PostgreSQL has no URL.");
  const { host, port, user, password = "" } = target;
  const urlOf = (name: string): string =>
    `postgres:///${name}?${new URLSearchParams({ host, port: String(port), user, password }).toString()}`;
  await runOn(target, `create database ${template}`);
  await (await openDatabase({ url: urlOf(template), dataDir: "", log })).close();
  const control = new Client(connectionConfig(target));
  // Its connection breaks if the whole run is interrupted.
  control.on("error", silent);
  await control.connect();
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = async (statement: string): Promise<void> => {
    const turn = last.then(() => control.query(statement));
    last = turn.catch(silent);
    await turn;
  };
  let made = 0;
  return {
    async create() {
      const name = `test_${++made}`;
      await inTurn(`create database ${name} template ${template}`);
      return urlOf(name);
    },
    async drop(name) {
      if (!/^test_\d+$/.test(name)) throw new Error(`The database ${name} is not of a test.`);
      await inTurn(`drop database if exists ${name} with (force)`);
    },
    async stop() {
      await control.end().catch(silent);
      await postgres.stop();
      process.off("exit", removeFiles);
      removeFiles();
    },
  };
}

/**
 * Set-up of Vitest: one PostgreSQL for all tests of a run, started with the first request. `SHOAL_TEST_DATABASES` is an
 * address: `POST` creates a migrated database and answers with its URL; `DELETE` with that URL as the body drops it.
 */
export async function setup(): Promise<() => Promise<void>> {
  // Another project of this run has set it up.
  if (process.env.SHOAL_TEST_DATABASES !== undefined) return () => Promise.resolve();
  let starting: Promise<SharedServer> | undefined;
  const path = `/${randomBytes(16).toString("hex")}`;
  const answer = async (method: string, body: string, response: ServerResponse): Promise<void> => {
    const server = await (starting ??= startServer());
    if (method === "POST") response.end(await server.create());
    else {
      await server.drop(new URL(body).pathname.slice(1));
      response.end();
    }
  };
  const listener = createServer((request, response) => {
    if (request.url !== path) return void response.writeHead(404).end();
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      answer(request.method ?? "", body, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("The system assigned no TCP port.");
  process.env.SHOAL_TEST_DATABASES = `http://127.0.0.1:${address.port}${path}`;
  return async () => {
    delete process.env.SHOAL_TEST_DATABASES;
    listener.closeAllConnections();
    listener.close();
    await (await starting?.catch(silent))?.stop();
  };
}
