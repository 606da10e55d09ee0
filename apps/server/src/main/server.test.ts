import { openDatabase } from "@shoal/database";
import type { AuditLogEntry } from "@shoal/schemas";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { completeConfig } from "../config/config.ts";
import type { Settings } from "../config/settings.ts";
import { adminKeyPath, readAdminKey } from "../config/admin-key.ts";
import { isLoopback, urlOf } from "../http/listen.ts";
import type { RunningServer } from "./running-server.ts";
import { startServer } from "./server.ts";
import { StartError } from "../config/start-error.ts";
import { unlimited } from "../testing/unlimited.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "shoal-start-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const running: RunningServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

const dataDir = () => join(folder, "data");

async function start(settings: Settings = {}): Promise<RunningServer> {
  const server = await startServer(
    completeConfig({ data_dir: dataDir(), port: 0, placement: "process", warm: 0, ...unlimited, ...settings }),
    {
      logTo: new PassThrough().resume(),
    },
  );
  running.push(server);
  return server;
}

async function refusal(settings: Settings): Promise<StartError> {
  try {
    await start(settings);
  } catch (error) {
    if (StartError.isInstance(error)) return error;
    throw error;
  }
  throw new Error("It started.");
}

const ask = async (server: RunningServer, key: string | undefined) =>
  (await fetch(`${server.baseUrl}/profiles`, { headers: { authorization: `Bearer ${key ?? ""}` } })).status;

it("creates an admin key at the first start, reuses it later, and replaces a lost one on request", async () => {
  const readyFile = join(folder, "ready.json");
  const first = await start({ ready_file: readyFile });
  const path = adminKeyPath(dataDir());
  expect(first.newAdminKey).toEqual({ apiKey: first.apiKey, path });
  expect(await ask(first, first.apiKey)).toBe(200);
  expect(JSON.parse(readFileSync(readyFile, "utf8"))).toEqual({
    base_url: first.baseUrl,
    api_key: first.apiKey,
    pid: process.pid,
  });
  if (process.platform !== "win32")
    for (const file of [path, readyFile]) expect(statSync(file).mode & 0o777).toBe(0o600);
  await first.close();
  expect(existsSync(readyFile)).toBe(false);

  const second = await start();
  expect(second).toMatchObject({ apiKey: first.apiKey, newAdminKey: undefined });
  expect(readAdminKey(dataDir())).toEqual({ base_url: second.baseUrl, api_key: first.apiKey });
  expect(await ask(second, first.apiKey)).toBe(200);
  await second.close();

  rmSync(path);
  const third = await start();
  expect(third).toMatchObject({ apiKey: undefined, newAdminKey: undefined });
  await third.close();

  const fourth = await start({ new_admin_key: true });
  expect(fourth.apiKey).not.toBe(first.apiKey);
  expect(await ask(fourth, fourth.apiKey)).toBe(200);
  expect(await ask(fourth, first.apiKey)).toBe(200);
  // The audit log has the two keys that the service created.
  const window = `start=${new Date(Date.now() - 3_600_000).toISOString()}&end=${new Date(Date.now() + 3_600_000).toISOString()}`;
  const response = await fetch(`${fourth.baseUrl}/audit-logs?${window}&auth_strategy=service`, {
    headers: { authorization: `Bearer ${fourth.apiKey ?? ""}` },
  });
  const entries = (await response.json()) as readonly AuditLogEntry[];
  expect(
    entries.map(({ client_ip, operation, path: at, status, user_id }) => ({
      client_ip,
      operation,
      path: at,
      status,
      user_id,
    })),
  ).toEqual(
    [1, 2].map(() => ({
      client_ip: "",
      operation: "apiKeys.create",
      path: "/org/api_keys",
      status: 201,
      user_id: "shoal",
    })),
  );
});

describe("fails to start and removes everything that it created,", () => {
  it("with a port in use", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const error = await refusal({ port });
    other.close();
    expect(error.message).toBe(`Port ${String(port)} of 127.0.0.1 is in use by another program.`);
    expect(error.hint).toContain("--port 0");
    expect(existsSync(join(dataDir(), "server.pid"))).toBe(false);
  });

  it("with a port for metrics that is in use, or not of this machine", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const taken = await refusal({ metrics_port: port });
    other.close();
    expect(taken.message).toBe(
      `Cannot open the metrics port. Port ${String(port)} of 127.0.0.1 is in use by another program.`,
    );
    expect(taken.hint).toContain("--metrics-port 0");
    expect(existsSync(join(dataDir(), "server.pid"))).toBe(false);
    const foreign = await refusal({ metrics_port: port, metrics_host: "192.0.2.1", metrics_token: "metrics-token" });
    expect(foreign.message).toBe("Cannot open the metrics port. 192.0.2.1 is not an address of this machine.");
    expect(foreign.hint).toContain("--metrics-host");
    const same = await refusal({ host: "localhost", port, metrics_port: port });
    expect(same).toMatchObject({
      message: `Port ${String(port)} is the port of the API, and of the metrics.`,
      exitCode: 2,
    });
  });

  it("on an address of another machine", async () => {
    expect((await refusal({ host: "192.0.2.1", unsafe_no_isolation: true })).message).toBe(
      "192.0.2.1 is not an address of this machine.",
    );
  });

  it("without a Chromium", async () => {
    const error = await refusal({ chromium: join(folder, "no-chromium") });
    expect(error.message).toContain("no-chromium");
    expect(error.hint).toContain("SHOAL_CHROMIUM");
  });

  it("beyond loopback when nothing isolates sessions", async () => {
    const error = await refusal({ host: "0.0.0.0" });
    expect(error.message).toContain("does not isolate sessions");
    expect(error.hint).toContain("--unsafe-no-isolation");
    const server = await start({ host: "0.0.0.0", unsafe_no_isolation: true });
    expect(server.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it("on the data folder of a running server, or its database", async () => {
    await start();
    expect((await refusal({})).message).toContain("in use by the Shoal server with process id");
    const silent = () => undefined;
    const log = { debug: silent, info: silent, warn: silent, error: silent };
    const other = join(folder, "other");
    mkdirSync(other);
    const database = await openDatabase({ dataDir: join(other, "database"), log });
    const error = await refusal({ data_dir: other });
    await database.close();
    expect(error.message).not.toBe("");
    expect(error.hint).not.toBe("");
  });

  it("with a database that does not answer, without showing its password", async () => {
    const error = await refusal({ database_url: "postgres://shoal:hunter2@127.0.0.1:1/shoal" });
    expect(error.message + error.hint).not.toContain("hunter2");
    expect(error.hint).not.toBe("");
  });

  it("in a data folder that cannot be created", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    const error = await refusal({ data_dir: join(file, "data") });
    expect(error.message).toBe(`The data folder ${join(file, "data")} is a file, or below one.`);
    expect(error.hint).toBe("Move the file away, or choose another with --data-dir or SHOAL_DATA_DIR.");
    expect((await refusal({ data_dir: file })).message).toBe(`The data folder ${file} is a file, or below one.`);
  });

  it("with a ready file that cannot be written", async () => {
    expect((await refusal({ ready_file: join(folder, "no", "such", "folder") })).hint).toContain("--ready-file");
    await start();
  });
});

it("distinguishes loopback from other addresses, and forms the URL of an address", () => {
  for (const host of ["127.0.0.1", "127.8.0.1", "::1", "localhost", "LOCALHOST"]) expect(isLoopback(host)).toBe(true);
  for (const host of ["0.0.0.0", "::", "10.0.0.1", "example.com", "1270.0.0.1", ""])
    expect(isLoopback(host)).toBe(false);
  expect([urlOf("0.0.0.0", 1), urlOf("::", 1), urlOf("::1", 1), urlOf("h", 1)]).toEqual([
    "http://127.0.0.1:1",
    "http://[::1]:1",
    "http://[::1]:1",
    "http://h:1",
  ]);
});
