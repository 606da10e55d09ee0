import { randomBytes } from "node:crypto";
import { chown, mkdtemp, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseError } from "../database-error.ts";
import type { DatabaseLog } from "../log.ts";
import type { Binaries } from "./binaries.ts";
import { diskFull, saysDiskFull } from "./file-errors.ts";
import type { Launcher } from "./launcher.ts";
import { followOutput } from "./program-output.ts";

export const embeddedUser = "shoal";

/** Keeps shared memory in files: /dev/shm is small in containers, and a killed server would leave files there. */
export const mappedMemory: Readonly<Record<string, string>> =
  process.platform === "win32" ? {} : { dynamic_shared_memory_type: "mmap" };

const settings = {
  max_connections: "60",
  shared_buffers: "64MB",
  max_wal_size: "256MB",
  min_wal_size: "32MB",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_logical_replication_workers: "0",
  max_parallel_workers_per_gather: "0",
  io_method: "sync",
  jit: "off",
  huge_pages: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  ...mappedMemory,
} as const;

export interface Cluster {
  readonly directory: string;
  readonly password: string | undefined;
}

const draftPrefix = "initdb-";

/** initdb writes into a folder that is renamed at the end, so a folder with this name is complete. */
const clusterName = "pgdata";

export function clusterIn(directory: string): string {
  return join(directory, clusterName);
}

async function removeDrafts(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name.startsWith(draftPrefix)) await rm(join(directory, name), { recursive: true, force: true, maxRetries: 5 });
  }
}

async function syncDirectory(directory: string): Promise<void> {
  // Windows cannot open folders; NTFS journals names.
  if (process.platform === "win32") return;
  const handle = await open(directory);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function complaint(output: string): string {
  const lines = output.split("\n").filter((line) => /error|fatal|could not|cannot|denied|not found/i.test(line));
  return (lines.length > 0 ? lines : output.split("\n").slice(-3)).join(" ").trim();
}

async function initialise(
  directory: string,
  binaries: Binaries,
  launcher: Launcher,
  password: string | undefined,
): Promise<void> {
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
      // lower() for all of Unicode and code point order, identical on all systems.
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--no-instructions",
      // Only this user may enter the folder of the socket.
      ...(password === undefined
        ? ["--auth-local=trust", "--auth-host=reject"]
        : ["--auth=scram-sha-256", `--pwfile=${passwordFile}`]),
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
        hint: "Fix the cause, choose another data directory, or set the URL of a PostgreSQL 14 or newer.",
      },
    );
  }
  await rename(draftCluster, clusterIn(directory));
  await syncDirectory(directory);
  await rm(draft, { recursive: true, force: true });
}

const passwordIn = (directory: string): string => join(directory, "password");

export async function readPassword(directory: string): Promise<string> {
  return (await readFile(passwordIn(directory), "utf8")).trim();
}

async function ensurePassword(directory: string, isNew: boolean): Promise<string> {
  if (!isNew) return readPassword(directory);
  const password = randomBytes(24).toString("base64url");
  await writeFile(passwordIn(directory), password, { mode: 0o600, flush: true });
  return password;
}

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
    // A non-empty folder of this name makes the rename fail; it may contain data.
    await initialise(directory, binaries, launcher, password);
    options.log.info({ directory, duration_ms: Math.round(performance.now() - startedAt) }, "created a new database");
  } else {
    const ours = Number.parseInt(binaries.version, 10);
    if (Number(found) !== ours) {
      throw new DatabaseError(
        `The database in ${directory} needs PostgreSQL ${found}, but this program includes PostgreSQL ${ours}.`,
        {
          code: "data_version",
          hint: `Dump it with PostgreSQL ${found} (pg_dumpall) and restore it into a new data directory, or choose another data directory.`,
        },
      );
    }
  }
  return { directory: cluster, password };
}
