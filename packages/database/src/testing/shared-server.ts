import { randomBytes } from "node:crypto";
import { once } from "node:events";
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

// One PostgreSQL for all tests of a run, until its stdin ends. It prints its address: `POST` creates a migrated database and
// answers with its URL; `DELETE` with that URL as the body drops it.
const server = await startServer();
const answer = async (method: string, body: string, response: ServerResponse): Promise<void> => {
  if (method === "POST") return void response.end(await server.create());
  await server.drop(new URL(body).pathname.slice(1));
  response.end();
};
const path = `/${randomBytes(16).toString("hex")}`;
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
listener.listen(0, "127.0.0.1");
await once(listener, "listening");
const address = listener.address();
if (address === null || typeof address === "string") throw new Error("The system assigned no TCP port.");
process.stdout.write(`http://127.0.0.1:${address.port}${path}\n`);
// Ctrl-C goes to the whole group; the run ends this program when its tests have ended.
process.on("SIGINT", silent);
process.stdin.resume();
await once(process.stdin, "close");
listener.closeAllConnections();
listener.close();
await server.stop();
