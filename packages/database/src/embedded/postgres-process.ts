import pTimeout from "p-timeout";
import { type ChildProcess, execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { DatabaseError } from "../database-error.ts";
import type { DatabaseLog } from "../log.ts";
import type { Binaries } from "./binaries.ts";
import { type Cluster, mappedMemory } from "./cluster.ts";
import { diskFull, saysDiskFull } from "./file-errors.ts";
import type { Launcher } from "./launcher.ts";
import { type Ending, followOutput } from "./program-output.ts";

export type Listening =
  | { readonly kind: "socket"; readonly directory: string; readonly port: number }
  | { readonly kind: "tcp"; readonly port: number };

export interface PostgresProcess {
  readonly pid: number;
  readonly ended: Promise<Ending>;
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly binaries: Binaries;
  readonly launcher: Launcher;
  readonly cluster: Cluster;
  readonly listening: Listening;
  readonly log: DatabaseLog;
}

/** Allows for crash recovery of a large log on a slow disk. */
const startTimeoutMs = 120_000;
const fastShutdownMs = 10_000;
const immediateShutdownMs = 5000;
const leftoversMs = 10_000;

function quoted(path: string): string {
  return `"${path.replaceAll('"', '""')}"`;
}

function argumentsFor(cluster: Cluster, listening: Listening): string[] {
  const settings: Record<string, string> =
    listening.kind === "socket"
      ? { listen_addresses: "", unix_socket_directories: quoted(listening.directory), unix_socket_permissions: "0700" }
      : { listen_addresses: "127.0.0.1", unix_socket_directories: "" };
  const logging = {
    logging_collector: "off",
    log_destination: "stderr",
    log_line_prefix: "",
    log_min_messages: "log",
    log_checkpoints: "off",
    lc_messages: "C",
  };
  const all = { ...settings, ...mappedMemory, port: String(listening.port), ...logging };
  return ["-D", cluster.directory, ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
}

function report(log: DatabaseLog, line: string): void {
  if (/^(?:PANIC|FATAL|WARNING)/.test(line)) log.warn({ postgres: line }, "PostgreSQL printed");
  else log.debug({ postgres: line }, "PostgreSQL printed");
}

function endsWithin(ended: Promise<Ending>, milliseconds: number): Promise<boolean> {
  return pTimeout(
    ended.then(() => true),
    { milliseconds, fallback: () => false },
  );
}

async function shutDown(
  child: ChildProcess,
  ended: Promise<Ending>,
  { binaries, cluster }: StartOptions,
): Promise<void> {
  if (process.platform === "win32") {
    // On Windows, kill() would end it without a checkpoint.
    await promisify(execFile)(binaries.pgCtl, ["stop", "-D", cluster.directory, "-m", "fast", "-W"], {
      windowsHide: true,
    }).catch(() => undefined);
  } else {
    child.kill("SIGINT");
  }
  if (await endsWithin(ended, fastShutdownMs)) return;
  child.kill("SIGQUIT");
  if (await endsWithin(ended, immediateShutdownMs)) return;
  child.kill("SIGKILL");
  await ended;
}

async function startOnce(options: StartOptions): Promise<PostgresProcess | string> {
  const { binaries, launcher, cluster, listening, log } = options;
  const child = launcher.launch(binaries.postgres, argumentsFor(cluster, listening), "SIGINT");
  const ready = Promise.withResolvers<boolean>();
  const output = followOutput(child, (line) => {
    report(log, line);
    if (line.includes("database system is ready to accept connections")) ready.resolve(true);
  });
  // macOS has no parent death signal; at least a regular exit ends PostgreSQL.
  const endWithUs = (): void => {
    child.kill("SIGINT");
  };
  process.once("exit", endWithUs);
  const ended = output.ended.finally(() => {
    process.off("exit", endWithUs);
  });
  const isReady = await pTimeout(Promise.race([ready.promise, ended.then(() => false)]), {
    milliseconds: startTimeoutMs,
    fallback: () => false,
  });
  if (isReady && child.pid !== undefined) {
    let stopping: Promise<void> | undefined;
    return {
      pid: child.pid,
      ended,
      stop: () => (stopping ??= shutDown(child, ended, options)),
    };
  }
  await shutDown(child, ended, options);
  return output.text();
}

function explain(output: string, { cluster }: StartOptions): DatabaseError {
  if (saysDiskFull(output)) return diskFull(cluster.directory);
  const lines = output.split("\n");
  const reasons = lines.filter((line) => /^(?:FATAL|PANIC)|error while loading|cannot|denied/i.test(line));
  const reason = (reasons.length > 0 ? reasons : lines.slice(-3)).join(" ");
  return new DatabaseError(
    `The embedded PostgreSQL did not start in ${cluster.directory}: ${reason === "" ? "it printed nothing" : reason}`,
    {
      code: "embedded_failed",
      hint: "Fix the cause, choose another data directory, or set the URL of a PostgreSQL 14 or newer.",
    },
  );
}

/** Starts PostgreSQL and waits until it accepts connections. @throws {DatabaseError} `disk_full`, `embedded_failed`. */
export async function startPostgres(options: StartOptions): Promise<PostgresProcess> {
  const deadline = performance.now() + leftoversMs;
  for (;;) {
    const result = await startOnce(options);
    if (typeof result !== "string") return result;
    const leftovers = /pre-existing shared memory block|is still in use/.test(result);
    if (!leftovers || performance.now() > deadline) throw explain(result, options);
    await sleep(100);
  }
}
