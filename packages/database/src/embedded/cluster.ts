import { randomBytes } from "node:crypto";
import { chown, mkdtemp, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseError } from "../database-error.ts";
import type { DatabaseLog } from "../log.ts";
import type { Binaries } from "./binaries.ts";
import { diskFull, saysDiskFull } from "./file-errors.ts";
import type { Launcher } from "./launcher.ts";
import { followOutput } from "./program-output.ts";

/** The role that owns everything in an embedded database. */
export const embeddedUser = "shoal";

/**
 * Shared memory in files below the data directory instead of /dev/shm, where a killed server would leave it for ever, and which
 * is small in containers.
 */
export const mappedMemory: Readonly<Record<string, string>> = process.platform === "win32" ? {} : { dynamic_shared_memory_type: "mmap" };

/** Settings for a laptop and a few dozen connections; they go into postgresql.conf, where they can be changed. */
const settings = {
  max_connections: "60",
  shared_buffers: "64MB",
  max_wal_size: "256MB",
  min_wal_size: "32MB",
  // Nothing replicates from here.
  wal_level: "minimal",
  max_wal_senders: "0",
  max_logical_replication_workers: "0",
  // No query here is worth starting processes for, and waiting for the disk in the backend costs none.
  max_parallel_workers_per_gather: "0",
  io_method: "sync",
  jit: "off",
  huge_pages: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  ...mappedMemory,
} as const;

/** Where the database is and how it is entered. */
export interface Cluster {
  /** PostgreSQL's own data directory. */
  readonly directory: string;
  /** For connections over TCP. */
  readonly password: string | undefined;
}

const draftPrefix = "initdb-";

/** initdb writes here and the folder gets its name at the end, so that one of that name is always whole. */
const clusterName = "pgdata";

/** Path of PostgreSQL's data directory, made or not. */
export function clusterIn(directory: string): string {
  return join(directory, clusterName);
}

async function removeDrafts(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name.startsWith(draftPrefix)) await rm(join(directory, name), { recursive: true, force: true, maxRetries: 5 });
  }
}

async function syncDirectory(directory: string): Promise<void> {
  // Windows cannot open folders; NTFS keeps a journal of its names.
  if (process.platform === "win32") return;
  const handle = await open(directory);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** What initdb printed, without its greeting, for an error message. */
function complaint(output: string): string {
  const lines = output.split("\n").filter((line) => /error|fatal|could not|cannot|denied|not found/i.test(line));
  return (lines.length > 0 ? lines : output.split("\n").slice(-3)).join(" ").trim();
}

async function initialise(directory: string, binaries: Binaries, launcher: Launcher, password: string | undefined): Promise<void> {
  const draft = await mkdtemp(join(directory, draftPrefix));
  const draftCluster = join(draft, clusterName);
  const passwordFile = join(draft, "password");
  if (password !== undefined) await writeFile(passwordFile, password, { mode: 0o600 });
  if (launcher.realUser !== undefined) {
    const { uid, gid } = launcher.realUser;
    await chown(draft, uid, gid);
    if (password !== undefined) await chown(passwordFile, uid, gid);
  }
  const child = launcher.launch(
    binaries.initdb,
    [
      `--pgdata=${draftCluster}`,
      `--username=${embeddedUser}`,
      "--encoding=UTF8",
      "--locale=C",
      // lower() of all of Unicode, the same on every system, with the order of code points.
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--no-instructions",
      // The socket is in a folder that only this user may enter.
      ...(password === undefined ? ["--auth-local=trust", "--auth-host=reject"] : ["--auth=scram-sha-256", `--pwfile=${passwordFile}`]),
      ...Object.entries(settings).map(([name, value]) => `--set=${name}=${value}`),
    ],
    "SIGKILL",
  );
  const output = followOutput(child, () => undefined);
  const { code, signal } = await output.ended;
  if (code !== 0) {
    await rm(draft, { recursive: true, force: true }).catch(() => undefined);
    if (saysDiskFull(output.text())) throw diskFull(directory);
    throw new DatabaseError(
      `PostgreSQL's initdb failed in ${directory} (${signal ?? `exit code ${code ?? "unknown"}`}): ${complaint(output.text())}`,
      {
        code: code === 126 || code === 127 ? "embedded_unavailable" : "embedded_failed",
        hint: "Correct the cause, choose another data directory, or give the URL of a PostgreSQL 14 or newer.",
      },
    );
  }
  await rename(draftCluster, clusterIn(directory));
  await syncDirectory(directory);
  await rm(draft, { recursive: true, force: true });
}

const passwordIn = (directory: string): string => join(directory, "password");

/** The password of a database that is reached over TCP. */
export async function readPassword(directory: string): Promise<string> {
  return (await readFile(passwordIn(directory), "utf8")).trim();
}

/** The password of a database that is reached over TCP; made once, kept in a file for this user only. */
async function ensurePassword(directory: string, isNew: boolean): Promise<string> {
  if (!isNew) return readPassword(directory);
  const password = randomBytes(24).toString("base64url");
  await writeFile(passwordIn(directory), password, { mode: 0o600, flush: true });
  return password;
}

/**
 * Finds the database in `directory` or makes it. What a killed initdb left is removed first.
 *
 * @throws {DatabaseError} `data_version`, `disk_full`, `embedded_failed` or `embedded_unavailable`.
 */
export async function ensureCluster(
  directory: string,
  binaries: Binaries,
  launcher: Launcher,
  options: { readonly tcp: boolean; readonly log: DatabaseLog },
): Promise<Cluster> {
  await removeDrafts(directory);
  const cluster = clusterIn(directory);
  const found = await readFile(join(cluster, "PG_VERSION"), "utf8").then(
    (text) => text.trim(),
    () => undefined,
  );
  const isNew = found === undefined;
  const password = options.tcp ? await ensurePassword(directory, isNew) : undefined;
  if (isNew) {
    const startedAt = performance.now();
    // An empty folder of this name would be in the way of the rename; one with files in it is not ours to remove.
    await initialise(directory, binaries, launcher, password);
    options.log.info({ directory, duration_ms: Math.round(performance.now() - startedAt) }, "made a new database");
  } else {
    const ours = Number.parseInt(binaries.version, 10);
    if (Number(found) !== ours) {
      throw new DatabaseError(`The database in ${directory} was made by PostgreSQL ${found}; this program brings PostgreSQL ${ours}.`, {
        code: "data_version",
        hint: `Dump it with PostgreSQL ${found} (pg_dumpall) and restore it into a new data directory, or choose another data directory.`,
      });
    }
  }
  return { directory: cluster, password };
}
