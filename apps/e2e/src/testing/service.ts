import { type ServiceProcess, startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { sharedDatabase } from "@shoal/testkit";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { checkAnswersOf } from "./checked-answers.ts";
import { allProcesses, descendantsOf, type ProcessEntry } from "./processes.ts";
import {
  dataDirsOf,
  serverCount,
  skipInsideOneServer,
  startSeveralServers,
  type SeveralServers,
  withoutInside,
} from "./several-servers.ts";

export interface TestService {
  readonly service: ServiceProcess;
  readonly shoal: Shoal;
  /** With several servers, reading it skips the test. */
  readonly dataDir: string;
  /** Of each server. */
  readonly dataDirs: readonly string[];
  /** Contains the data folders of all servers, the database and the blobs. */
  readonly folder: string;
  /** Process ids of the servers. */
  readonly pids: readonly number[];
  /** Addresses of the servers, without the load balancer. */
  readonly serverUrls: readonly string[];
  /** Processes below all servers, without those of an embedded PostgreSQL. */
  processes(): ProcessEntry[];
}

/** Only tests of evidence pay for it. Flags take precedence. */
const withoutEvidence = { SHOAL_DEFAULT_TELEMETRY: "off", SHOAL_DOWNLOAD_RETENTION_HOURS: "0" };

/** Ends of all services of this file. */
const ends = new Set<() => Promise<unknown>>();

/** Also ends a service that took longer to start than its hook or test waited. */
export async function endServices(): Promise<void> {
  await Promise.allSettled([...ends].map((end) => end()));
}

/**
 * In a separate folder, which `end` removes. Its database is in the PostgreSQL of the run, if the run has one and no
 * folder is given. With `SHOAL_TEST_SERVERS`, several servers behind a load balancer.
 * @param given.dataDir - the folder of an earlier service.
 */
export async function runService(
  flags: readonly string[] = [],
  given: { readonly dataDir?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<TestService & { end(): Promise<void> }> {
  const dataDir = given.dataDir ?? mkdtempSync(join(tmpdir(), "shoal-e2e-"));
  const database = given.dataDir === undefined && serverCount === 1 ? await sharedDatabase() : undefined;
  // Do not refuse requests on a busy test machine.
  const starting: Promise<ServiceProcess | SeveralServers> = (serverCount > 1 ? startSeveralServers : startService)(
    dataDir,
    ["--warm", "0", "--log-level", "warn", "--max-event-loop-delay-ms", "0", ...flags],
    {
      ...withoutEvidence,
      ...(given.env ?? process.env),
      ...(database !== undefined && { DATABASE_URL: database.url }),
    },
  );
  const end = async () => {
    await (await starting.catch(() => undefined))?.stop();
    await database?.drop();
    rmSync(dataDir, { recursive: true, force: true });
    ends.delete(end);
  };
  ends.add(end);
  const service = await starting;
  checkAnswersOf(service.baseUrl);
  const pids = "pids" in service ? service.pids : [service.pid];
  return {
    service: serverCount > 1 ? withoutInside(service) : service,
    shoal: new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey }),
    get dataDir() {
      return serverCount > 1 ? skipInsideOneServer() : dataDir;
    },
    dataDirs: dataDirsOf(dataDir),
    folder: dataDir,
    pids,
    serverUrls: "serverUrls" in service ? service.serverUrls : [service.baseUrl],
    processes() {
      const entries = allProcesses();
      return pids.flatMap((pid) => descendantsOf(pid, entries)).filter(({ command }) => !command.includes("postgres"));
    },
    end,
  };
}

/** One service for all tests of the surrounding `describe`. Read its fields inside tests only. */
export function useService(flags: () => readonly string[] = () => []): TestService {
  let running: Awaited<ReturnType<typeof runService>> | undefined;
  beforeAll(async () => {
    running = await runService(flags());
  });
  afterAll(() => running?.end());
  const present = () => {
    if (!running) throw new Error("The service runs inside tests only.");
    return running;
  };
  return {
    get service() {
      return present().service;
    },
    get shoal() {
      return present().shoal;
    },
    get dataDir() {
      return present().dataDir;
    },
    get dataDirs() {
      return present().dataDirs;
    },
    get folder() {
      return present().folder;
    },
    get pids() {
      return present().pids;
    },
    get serverUrls() {
      return present().serverUrls;
    },
    processes: () => present().processes(),
  };
}
