import { openBackupSource } from "@shoal/database";
import { createReadStream } from "node:fs";
import { link, open, opendir, readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress } from "node:zlib";
import tar from "tar-stream";
import type { Config } from "../config/config.ts";
import { readIfPresent } from "../data-dir/data-dir.ts";
import type { Log } from "../log.ts";
import { StartError } from "../start-error.ts";
import { version } from "../version.ts";
import { type Closing, type Manifest, names, secretFiles } from "./archive.ts";

/** What was saved. */
export interface BackupReport {
  /** Rows of all tables. */
  readonly rows: number;
  readonly files: number;
  readonly fileBytes: number;
  /** Files that went while they were to be read: somebody deleted what they belong to. */
  readonly missing: number;
}

export type BackupConfig = Pick<Config, "data_dir" | "database_url" | "blobs_dir" | "blob_store_url">;

/** Where blobs lie. */
export function blobsDirectory(config: BackupConfig): string {
  return config.blobs_dir ?? join(config.data_dir, "blobs");
}

/** @throws {StartError} where the database is not the embedded one. */
export function refuseExternal({ database_url }: BackupConfig): void {
  if (database_url === undefined) return;
  throw new StartError("This service has an external database, given by database_url.", {
    hint: "Save that with pg_dump and restore it with pg_restore; beside it save the blobs folder or the bucket, and the secret key, which every server must have.",
    exitCode: 2,
  });
}

async function* filesBelow(folder: string, prefix = ""): AsyncGenerator<string> {
  const entries = await opendir(join(folder, prefix)).catch(() => undefined);
  if (entries === undefined) return;
  for await (const entry of entries) {
    const name = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
    if (entry.isDirectory()) yield* filesBelow(folder, name);
    // What is still being uploaded no row names.
    else if (entry.isFile() && !name.endsWith(".part")) yield name;
  }
}

/**
 * Writes everything that a service with an embedded database keeps, as a tar archive compressed with zstd: its rows as they are at one moment, its blobs, and
 * unless `secrets` is false the files that open them. Blobs in a store (`blob_store_url`) are not in it. The service may run meanwhile.
 *
 * @throws {StartError} and DatabaseError, when there is nothing to save or it cannot be read.
 */
export async function makeBackup(
  config: BackupConfig,
  out: Writable,
  options: { readonly secrets: boolean; readonly log: Log; readonly signal?: AbortSignal },
): Promise<BackupReport> {
  refuseExternal(config);
  const source = await openBackupSource({ dataDir: join(config.data_dir, "database"), log: options.log });
  const pack = tar.pack();
  const report = { rows: 0, files: 0, fileBytes: 0, missing: 0 };

  async function add(name: string, content: string | Buffer): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      pack.entry({ name, mode: 0o600 }, content, (error) => {
        if (error == null) resolve();
        else reject(error);
      });
    });
  }

  async function addFile(path: string, name: string): Promise<void> {
    const size = await stat(path).then(
      (found) => found.size,
      () => undefined,
    );
    if (size === undefined) {
      report.missing += 1;
      return;
    }
    const stream = createReadStream(path);
    // Opened first: from then on it can be read although somebody removes it.
    const opened = await new Promise<boolean>((resolve) => {
      stream.once("open", () => {
        resolve(true);
      });
      stream.once("error", () => {
        resolve(false);
      });
    });
    if (!opened) {
      report.missing += 1;
      return;
    }
    await pipeline(stream, pack.entry({ name, size, mode: 0o600 }));
    report.files += 1;
    report.fileBytes += size;
  }

  async function fill(): Promise<void> {
    const manifest: Manifest = {
      shoal_backup: 1,
      version,
      created_at: new Date().toISOString(),
      migrations: [...source.migrations],
      secrets: options.secrets,
    };
    await add(names.manifest, JSON.stringify(manifest));
    const rows: Record<string, number> = {};
    let part = 0;
    for await (const chunk of source.chunks()) {
      options.signal?.throwIfAborted();
      rows[chunk.table] = (rows[chunk.table] ?? 0) + chunk.rows.length;
      report.rows += chunk.rows.length;
      part += 1;
      await add(`${names.database}${chunk.table}/${String(part)}.jsonl`, chunk.rows.map((row) => `${row}\n`).join(""));
    }
    // After the rows: what they name was stored before them, and is never changed.
    const blobs = blobsDirectory(config);
    for await (const name of config.blob_store_url === undefined ? filesBelow(blobs) : []) {
      options.signal?.throwIfAborted();
      await addFile(join(blobs, name), names.blobs + name);
    }
    for (const name of options.secrets ? secretFiles : []) {
      const content = readIfPresent(join(config.data_dir, name));
      if (content !== undefined) await add(names.secrets + name, content);
    }
    const closing: Closing = { rows, files: report.files, file_bytes: report.fileBytes };
    await add(names.closing, JSON.stringify(closing));
    pack.finalize();
  }

  try {
    const written = pipeline(pack, createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } }), out);
    await Promise.all([
      fill().catch((error: unknown) => {
        pack.destroy(error instanceof Error ? error : new Error(String(error)));
        throw error;
      }),
      written,
    ]);
    return report;
  } finally {
    await source.close();
  }
}

/** Removes what killed backups to the same file left: a part names the process that writes it. */
async function removeAbandonedParts(path: string): Promise<void> {
  const prefix = `${basename(path)}.`;
  for (const name of await readdir(dirname(path)).catch(() => [])) {
    const writer = name.startsWith(prefix) ? /^(\d+)\.part$/.exec(name.slice(prefix.length))?.[1] : undefined;
    if (writer !== undefined && !isRunning(Number(writer))) await rm(join(dirname(path), name), { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/**
 * Writes a backup to a file that is there whole or not at all, readable by its owner alone.
 *
 * @throws {StartError} when there is a file of that name.
 */
export async function makeBackupFile(config: BackupConfig, path: string, options: Parameters<typeof makeBackup>[2]): Promise<BackupReport> {
  await removeAbandonedParts(path);
  const part = `${path}.${String(process.pid)}.part`;
  const taken = new StartError(`There is a file ${path} already.`, {
    hint: "Choose another name, or move that file away: a backup is never written over.",
    exitCode: 2,
  });
  if ((await stat(path).catch(() => undefined)) !== undefined) throw taken;
  const file = await open(part, "wx", 0o600).catch((error: unknown) => {
    throw new StartError(`${part} cannot be written: ${error instanceof Error ? error.message : String(error)}.`, {
      hint: "Name a file in a folder that exists and is writable.",
      exitCode: 2,
      cause: error,
    });
  });
  try {
    const report = await makeBackup(config, file.createWriteStream({ flush: true }), options);
    // Unlike a rename, this does not replace a file that has come meanwhile.
    await link(part, path).catch((error: unknown) => {
      throw error instanceof Error && "code" in error && error.code === "EEXIST" ? taken : error;
    });
    return report;
  } finally {
    await file.close().catch(() => undefined);
    await rm(part, { force: true });
  }
}
