import { type ServiceProcess, startService } from "@shoal/cli/service";
import { openDatabase } from "@shoal/database";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { TestRunner } from "vitest";
import { startDebianProxy } from "./debian-proxy.ts";

/** Servers of each service under test; more than one share a database behind HAProxy. */
export const serverCount = Number(process.env.SHOAL_TEST_SERVERS ?? "1");

const silent = () => undefined;
const secret = randomBytes(32).toString("hex");

export interface SeveralServers extends ServiceProcess {
  readonly pids: readonly number[];
  readonly serverUrls: readonly string[];
}

/** Starts {@link serverCount} servers behind HAProxy, which sends each request to the next one. */
export async function startSeveralServers(
  dataDir: string,
  flags: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<SeveralServers> {
  const stops: (() => Promise<unknown>)[] = [];
  // In reverse order of the start: the database last.
  const stopAll = async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  };
  // A test that skips itself leaves before its own clean-up.
  TestRunner.getCurrentTest()?.context.onTestFinished(stopAll);
  try {
    const database = await openDatabase({
      dataDir: join(dataDir, "database"),
      log: { debug: silent, info: silent, warn: silent, error: silent },
    });
    stops.push(() => database.close());
    const shared = [
      ...[
        "--database-url",
        `postgres:///postgres?host=${encodeURIComponent(join(dataDir, "database", "run"))}&user=shoal`,
      ],
      ...["--blobs-dir", join(dataDir, "blobs")],
      ...flags,
    ];
    const start = (index: number) =>
      startService(dataDirOf(dataDir, index), shared, { ...env, SHOAL_SECRET_KEY: secret });
    // The first one creates the tables and the admin key.
    const first = await start(0);
    stops.push(() => first.stop());
    const others = await Promise.all(Array.from({ length: serverCount - 1 }, (_, index) => start(index + 1)));
    stops.push(() => Promise.all(others.map((server) => server.stop())));
    const servers = [first, ...others];
    const serverUrls = servers.map(({ baseUrl }) => baseUrl);
    const balancer = await startDebianProxy(roundRobin(serverUrls), first.baseUrl);
    // Ends after the servers, which close their connections.
    stops.splice(1, 0, async () => {
      await balancer[Symbol.asyncDispose]();
    });
    return {
      baseUrl: balancer.baseUrl,
      apiKey: first.apiKey,
      pid: first.pid,
      pids: servers.map(({ pid }) => pid),
      serverUrls,
      output: () => servers.map((server) => server.output()).join(""),
      stop: () => stopAll().then(() => 0),
    };
  } catch (error) {
    await stopAll();
    throw error;
  }
}

/** The data folder of each server. */
export function dataDirsOf(dataDir: string): string[] {
  return serverCount > 1 ? Array.from({ length: serverCount }, (_, index) => dataDirOf(dataDir, index)) : [dataDir];
}

const dataDirOf = (dataDir: string, index: number) => join(dataDir, `server-${String(index + 1)}`);

/** Reading the process id, or a stop with a signal, skips the test. */
export function withoutInside(service: ServiceProcess): ServiceProcess {
  return {
    ...service,
    get pid(): number {
      return skipInsideOneServer();
    },
    stop: (signal) => (signal === undefined ? service.stop() : skipInsideOneServer()),
  };
}

/** Skips the current test: it looks at the processes or files of a single server. */
export function skipInsideOneServer(): never {
  TestRunner.getCurrentTest()?.context.skip(`it looks inside one server, and there are ${String(serverCount)}`);
  throw new Error("This file looks inside one server: run it without SHOAL_TEST_SERVERS.");
}

const roundRobin = (urls: readonly string[]): Parameters<typeof startDebianProxy>[0] => ({
  name: "haproxy",
  config: ({ own }) => `defaults
  mode http
  option abortonclose
  option forwardfor
  timeout connect 5s
  timeout client 10m
  timeout server 10m
  timeout tunnel 1h
frontend outside
  bind 127.0.0.1:${String(own)}
  default_backend servers
backend servers
  balance roundrobin
${urls.map((url, index) => `  server s${String(index)} ${new URL(url).host}`).join("\n")}
`,
  args: (config) => ["-db", "-f", config],
});
