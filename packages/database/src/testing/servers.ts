import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { Client } from "pg";
import type { Target } from "../connect.ts";
import { startEmbedded } from "../embedded/embedded-postgres.ts";
import { chooseLauncher } from "../embedded/launcher.ts";
import { startPostgres } from "../embedded/postgres-process.ts";
import { followOutput } from "../embedded/program-output.ts";
import { debianPostgres, scratchBase } from "./conditions.ts";
import { recordingLog } from "./logs.ts";

export interface TestServer {
  createDatabase(options?: string): Promise<string>;
  readonly url: string;
  readonly password: string;
  /** Of `create database`, for the locale C in this version. */
  readonly plainLocale: string;
  stop(): Promise<void>;
}

export async function runOn(url: string, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

function serverAt(port: number, password: string, stop: () => Promise<void>, major = 18): TestServer {
  const urlOf = (database: string): string =>
    `postgres://shoal:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
  let made = 0;
  return {
    url: urlOf("postgres"),
    password,
    // PostgreSQL 14 has one provider of locales.
    plainLocale: `${major < 15 ? "" : "locale_provider libc "}locale 'C'`,
    stop,
    async createDatabase(options = "") {
      made += 1;
      const name = `test_${made}`;
      await runOn(urlOf("postgres"), `create database ${name} ${options}`);
      return urlOf(name);
    },
  };
}

export async function startBundledServer(): Promise<TestServer> {
  const directory = await mkdtemp(join(scratchBase(), "shoal-server-"));
  const { platform, arch } = process;
  const postgres = await startEmbedded({ directory, log: recordingLog(), platform, arch, tcp: true });
  const { port, password } = partsOf(postgres.target);
  return serverAt(port, password, async () => {
    await postgres.stop();
    await rm(directory, { recursive: true });
  });
}

function partsOf(target: Target): { port: number; password: string } {
  if ("url" in target || target.password === undefined) throw new Error("expected TCP and a password");
  return { port: target.port, password: target.password };
}

export function startPostgres15(): Promise<TestServer> {
  return startServerOf(debianPostgres, 15);
}

export async function startServerOf(bin: string, major: number): Promise<TestServer> {
  const directory = await mkdtemp(join(scratchBase(), `shoal-postgres-${major}-`));
  const home = join(directory, "home");
  await mkdir(home, { mode: 0o700 });
  await chmod(directory, 0o755);
  const cluster = join(home, "data");
  const { launcher } = await chooseLauncher({ program: `${bin}/initdb`, directory: home, cluster });
  const password = "p@ss/wörd %41";
  const passwordFile = join(home, "password");
  await writeFile(passwordFile, password);
  const flags = [
    "--username=shoal",
    "--encoding=UTF8",
    "--locale=C.UTF-8",
    "--auth=scram-sha-256",
    `--pwfile=${passwordFile}`,
    "--no-sync",
  ];
  const initdb = followOutput(
    launcher.launch(`${bin}/initdb`, [`--pgdata=${cluster}`, ...flags], "SIGKILL"),
    () => undefined,
  );
  if ((await initdb.ended).code !== 0) throw new Error(initdb.text());
  const port = await unusedPort();
  const server = await startPostgres({
    binaries: { root: bin, initdb: "", postgres: `${bin}/postgres`, pgCtl: `${bin}/pg_ctl`, version: String(major) },
    launcher,
    cluster: { directory: cluster, password },
    listening: { kind: "tcp", port },
    log: recordingLog(),
  });
  return serverAt(
    port,
    password,
    async () => {
      await server.stop();
      await rm(directory, { recursive: true });
    },
    major,
  );
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("expected a port");
  return address.port;
}

export async function unusedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, "latin1");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const text = (value: string): Buffer => Buffer.from(`${value}\0`);
const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const int32 = (value: number): Buffer => Buffer.concat([int16(value >> 16), int16(value & 65535)]);

/** Accepts every login and answers every query with one row, as servers that are no longer available. */
export async function startImpostor(
  row: Readonly<Record<string, string>>,
): Promise<{ port: number; stop(): Promise<void> }> {
  const ready = message("Z", Buffer.from("I"));
  const columns = Object.keys(row).map((name) =>
    Buffer.concat([
      text(name),
      int32(0),
      int16(0),
      int32(/^\d+$/.test(row[name] ?? "") ? 23 : 25),
      int16(-1),
      int32(-1),
      int16(0),
    ]),
  );
  const values = Object.values(row).map((value) =>
    Buffer.concat([int32(Buffer.byteLength(value)), Buffer.from(value)]),
  );
  const answer = Buffer.concat([
    message("T", Buffer.concat([int16(columns.length), ...columns])),
    message("D", Buffer.concat([int16(values.length), ...values])),
    message("C", text("SELECT 1")),
    ready,
  ]);
  const server = createServer((socket) => {
    let greeted = false;
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      if (!greeted) socket.write(Buffer.concat([message("R", int32(0)), ready]));
      else if (data.at(0) === "Q".charCodeAt(0)) socket.write(answer);
      greeted = true;
    });
  });
  const port = await listen(server);
  return {
    port,
    stop: async () => {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
