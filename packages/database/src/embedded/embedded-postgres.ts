import { messageOf } from "@shoal/primitives";
import { constants } from "node:fs";
import { access, chown, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Target } from "../connect.ts";
import type { DatabaseLog } from "../log.ts";
import { completeInPlace, copyInto, findBinaries } from "./binaries.ts";
import { clusterIn, embeddedUser, ensureCluster } from "./cluster.ts";
import { type DirectoryLock, lockDirectory } from "./directory-lock.ts";
import { explainFileError } from "./file-errors.ts";
import { chooseLauncher, type Launcher } from "./launcher.ts";
import { stopOrphan } from "./orphan.ts";
import { type Listening, type PostgresProcess, startPostgres, type StartOptions } from "./postgres-process.ts";

export interface EmbeddedPostgres {
  readonly target: Target;
  /** Stops PostgreSQL, with stronger signals after 10 s, and releases the directory. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly directory: string;
  readonly log: DatabaseLog;
  readonly platform: string;
  readonly arch: string;
  /** Loopback and a password in place of a Unix socket, for Windows. */
  readonly tcp: boolean;
}

const socketPort = 5432;
/** Lowest limit of all systems (macOS: 104 with the final zero; Linux: 108). */
const maxSocketPathBytes = 103;
const firstRestartMs = 100;
const maxRestartMs = 10_000;

function fitsSocket(directory: string): boolean {
  return Buffer.byteLength(join(directory, `.s.PGSQL.${socketPort}`)) <= maxSocketPathBytes;
}

/** Creates a private folder: next to the data, or in the temporary directory if that path is too long. */
async function makeSocketDirectory(directory: string): Promise<string> {
  const near = join(directory, "run");
  if (fitsSocket(near)) {
    await rm(near, { recursive: true, force: true });
    await mkdir(near, { mode: 0o700 });
    return near;
  }
  const base = [tmpdir(), "/tmp"].find((folder) => fitsSocket(join(folder, "shoal-pg-XXXXXX"))) ?? "/tmp";
  return await mkdtemp(join(base, "shoal-pg-"));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done, fail) => {
    server.once("error", fail);
    server.listen(0, "127.0.0.1", done);
  });
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (address === null || typeof address === "string") throw new Error("The system assigned no TCP port.");
  return address.port;
}

async function listenSomewhere(options: EmbeddedOptions, directory: string, launcher: Launcher): Promise<Listening> {
  if (options.tcp) return { kind: "tcp", port: await freePort() };
  const socketDirectory = await makeSocketDirectory(directory);
  if (launcher.realUser !== undefined) await chown(socketDirectory, launcher.realUser.uid, launcher.realUser.gid);
  return { kind: "socket", directory: socketDirectory, port: socketPort };
}

function keepRunning(first: PostgresProcess, options: StartOptions): () => Promise<void> {
  const stopping = new AbortController();
  const isStopping = (): boolean => stopping.signal.aborted;

  async function restart(): Promise<PostgresProcess | undefined> {
    for (let delayMs = firstRestartMs; !isStopping(); delayMs = Math.min(delayMs * 2, maxRestartMs)) {
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (isStopping()) return undefined;
      try {
        return await startPostgres(options);
      } catch (error) {
        options.log.error({ error: messageOf(error) }, "cannot restart the embedded PostgreSQL");
      }
    }
    return undefined;
  }

  async function watch(): Promise<void> {
    let current: PostgresProcess | undefined = first;
    while (current !== undefined) {
      const running: PostgresProcess = current;
      const stop = (): void => void running.stop();
      stopping.signal.addEventListener("abort", stop);
      if (isStopping()) stop();
      const { code, signal } = await running.ended;
      stopping.signal.removeEventListener("abort", stop);
      if (isStopping()) return;
      options.log.error({ exit_code: code, signal }, "the embedded PostgreSQL ended unexpectedly; restarting it");
      current = await restart();
    }
  }

  const watching = watch();
  return async () => {
    stopping.abort();
    await watching;
  };
}

async function startLocked(
  options: EmbeddedOptions,
  directory: string,
  lock: DirectoryLock,
): Promise<EmbeddedPostgres> {
  const found = await findBinaries(options.platform, options.arch);
  const runsInPlace = await completeInPlace(found);
  const cluster = clusterIn(directory);
  const { launcher, reachesProgram } = await chooseLauncher({ program: found.postgres, directory, cluster });
  const binaries = runsInPlace && reachesProgram ? found : await copyInto(directory, found);

  const owner = { pid: process.pid, started_at: new Date().toISOString() };
  await lock.describe(owner);
  await stopOrphan(cluster, binaries.pgCtl, options.log);
  if (lock.previous?.socket_dir !== undefined) await rm(lock.previous.socket_dir, { recursive: true, force: true });

  const made = await ensureCluster(directory, binaries, launcher, { tcp: options.tcp, log: options.log });
  const listening = await listenSomewhere(options, directory, launcher);
  const removeSocketDirectory = async (): Promise<void> => {
    if (listening.kind === "socket") await rm(listening.directory, { recursive: true, force: true });
  };
  try {
    await lock.describe({
      ...owner,
      ...(listening.kind === "socket" ? { socket_dir: listening.directory } : { port: listening.port }),
    });
    const startOptions: StartOptions = { binaries, launcher, cluster: made, listening, log: options.log };
    const stop = keepRunning(await startPostgres(startOptions), startOptions);
    return {
      target: {
        host: listening.kind === "socket" ? listening.directory : "127.0.0.1",
        port: listening.port,
        user: embeddedUser,
        database: "postgres",
        ...(made.password === undefined ? {} : { password: made.password }),
      },
      async stop() {
        await stop();
        await removeSocketDirectory();
        await lock.forget();
        lock.release();
      },
    };
  } catch (error) {
    await removeSocketDirectory();
    throw error;
  }
}

/** Creates a missing data directory with mode 0700. @throws {DatabaseError} Nothing is left running. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const wanted = resolve(options.directory);
  try {
    await mkdir(wanted, { recursive: true, mode: 0o700 });
    // The path identifies the processes of PostgreSQL, so it must be canonical.
    const directory = await realpath(wanted);
    await access(directory, constants.W_OK | constants.X_OK);
    const lock = await lockDirectory(directory);
    try {
      return await startLocked(options, directory, lock);
    } catch (error) {
      await lock.forget();
      lock.release();
      throw error;
    }
  } catch (error) {
    throw explainFileError(error, wanted);
  }
}
