import { errorOf, hasCode, messageOf } from "@shoal/primitives";
import { type BackupSource, openBackupSource } from "@shoal/database";
import { isRunning } from "@shoal/primitives/node";
import { existsSync } from "node:fs";
import { open, opendir, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress } from "node:zlib";
import tar from "tar-stream";
import type { Config } from "../../config/settings.ts";
import { databaseDirectory, readIfPresent } from "../../config/data-dir.ts";
import type { Log } from "../../log/log.ts";
import { StartError } from "../../config/start-error.ts";
import { version } from "../../config/version.ts";
import { type Closing, type Manifest, names, secretFiles } from "./archive.ts";
import { NamedFiles } from "./named-files.ts";

export interface BackupReport {
  readonly rows: number;
  readonly files: number;
  readonly fileBytes: number;
  /** Files that were deleted during the backup. */
  readonly missing: number;
  /** Files that rows name, and that the folder of blobs does not contain. */
  readonly absent: number;
  /** One of them. */
  readonly absentExample: string | undefined;
}

export type BackupConfig = Pick<Config, "data_dir" | "database_url" | "blobs_dir" | "blob_store_url">;

export function blobsDirectory(config: BackupConfig): string {
  return config.blobs_dir ?? join(config.data_dir, "blobs");
}

/** @throws {StartError} when the database is not embedded. */
export function refuseExternal({ database_url }: BackupConfig): void {
  if (database_url === undefined) return;
  throw new StartError("This service uses an external database (database_url).", {
    hint: "Use pg_dump and pg_restore; also save the blobs folder or bucket, and the secret key.",
    exitCode: 2,
  });
}

function unlessMissing(error: unknown): undefined {
  if (hasCode(error, "ENOENT")) return undefined;
  throw error;
}

async function* filesBelow(folder: string, prefix = ""): AsyncGenerator<string> {
  const entries = await opendir(join(folder, prefix)).catch(unlessMissing);
  if (entries === undefined) return;
  for await (const entry of entries) {
    const name = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
    if (entry.isDirectory()) yield* filesBelow(folder, name);
    // Rows never refer to unfinished uploads.
    else if (entry.isFile() && !name.endsWith(".part")) yield name;
  }
}

export interface BackupOptions {
  readonly secrets: boolean;
  readonly log: Log;
  readonly signal?: AbortSignal;
}

/**
 * A tar archive, compressed with zstd, of a service with an embedded database, which may run: a snapshot of all rows,
 * the blobs, and the secrets unless `secrets` is false. Blobs in a store (`blob_store_url`) are not included.
 * @throws {StartError} and DatabaseError when the data is missing or unreadable.
 */
export async function makeBackup(config: BackupConfig, out: Writable, options: BackupOptions): Promise<BackupReport> {
  refuseExternal(config);
  const source = await openBackupSource({ dataDir: databaseDirectory(config.data_dir), log: options.log });
  try {
    const archive = new BackupArchive(config, options);
    const compress = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
    await Promise.all([archive.fill(source), pipeline(archive.pack, compress, out)]);
    return archive.report();
  } finally {
    await source.close();
  }
}

class BackupArchive {
  readonly pack = tar.pack();
  readonly #count = { rows: 0, files: 0, fileBytes: 0, missing: 0 };
  readonly #named = new NamedFiles();
  readonly #config: BackupConfig;
  readonly #options: BackupOptions;

  constructor(config: BackupConfig, options: BackupOptions) {
    this.#config = config;
    this.#options = options;
  }

  report(): BackupReport {
    const { blob_store_url: store } = this.#config;
    const absent = store === undefined ? this.#named.size : 0;
    return { ...this.#count, absent, absentExample: absent === 0 ? undefined : this.#named.example() };
  }

  async fill(source: BackupSource): Promise<void> {
    try {
      await this.#addManifest(source);
      const rows = await this.#addRows(source);
      // After the rows: blobs are stored before their rows, never change, and are not deleted while the source is open.
      await this.#addBlobs();
      if (this.#options.secrets) await this.#addSecrets();
      const closing: Closing = { rows, files: this.#count.files, file_bytes: this.#count.fileBytes };
      await this.#add(names.closing, JSON.stringify(closing));
      this.pack.finalize();
    } catch (error) {
      this.pack.destroy(errorOf(error));
      throw error;
    }
  }

  async #addManifest({ migrations }: BackupSource): Promise<void> {
    const manifest: Manifest = {
      shoal_backup: 1,
      version,
      created_at: new Date().toISOString(),
      migrations: [...migrations],
      secrets: this.#options.secrets,
    };
    await this.#add(names.manifest, JSON.stringify(manifest));
  }

  async #addRows(source: BackupSource): Promise<Record<string, number>> {
    const rows: Record<string, number> = {};
    let part = 0;
    for await (const chunk of source.chunks()) {
      this.#options.signal?.throwIfAborted();
      rows[chunk.table] = (rows[chunk.table] ?? 0) + chunk.rows.length;
      this.#count.rows += chunk.rows.length;
      this.#named.note(chunk.table, chunk.rows);
      part += 1;
      const lines = chunk.rows.map((row) => `${row}\n`).join("");
      await this.#add(`${names.database}${chunk.table}/${String(part)}.jsonl`, lines);
    }
    return rows;
  }

  async #addBlobs(): Promise<void> {
    if (this.#config.blob_store_url !== undefined) return;
    const folder = blobsDirectory(this.#config);
    if (this.#named.size > 0 && !existsSync(folder))
      throw new StartError(
        `${folder} does not exist, but the database names ${String(this.#named.size)} files of that folder, such as ${this.#named.example() ?? ""}.`,
        { hint: "Name the folder of the service's blobs with --blobs-dir or SHOAL_BLOBS_DIR.", exitCode: 2 },
      );
    for await (const name of filesBelow(folder)) {
      this.#options.signal?.throwIfAborted();
      if (await this.#addFile(join(folder, name), names.blobs + name)) this.#named.found(name);
    }
  }

  async #addSecrets(): Promise<void> {
    for (const name of secretFiles) {
      const content = readIfPresent(join(this.#config.data_dir, name));
      if (content !== undefined) await this.#add(names.secrets + name, content);
    }
  }

  async #addFile(path: string, name: string): Promise<boolean> {
    await using file = await open(path).catch(unlessMissing);
    if (file === undefined) {
      this.#count.missing += 1;
      return false;
    }
    // An open file stays readable after its deletion.
    const { size } = await file.stat();
    await pipeline(file.createReadStream(), this.pack.entry({ name, size, mode: 0o600 }));
    this.#count.files += 1;
    this.#count.fileBytes += size;
    return true;
  }

  async #add(name: string, content: string | Buffer): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.pack.entry({ name, mode: 0o600 }, content, (error) => {
        if (error == null) resolve();
        else reject(error);
      });
    });
  }
}

/** Removes files of killed backups to the same path; their names contain the process id. */
async function removeAbandonedParts(path: string): Promise<void> {
  const prefix = `${basename(path)}.`;
  for (const name of await readdir(dirname(path)).catch(() => [])) {
    const writer = name.startsWith(prefix) ? /^(\d+)\.part$/.exec(name.slice(prefix.length))?.[1] : undefined;
    if (writer !== undefined && !isRunning(Number(writer))) await rm(join(dirname(path), name), { force: true });
  }
}

/** Writes a backup to a file, atomically, readable by its owner only. @throws {StartError} when the file exists. */
export async function makeBackupFile(
  config: BackupConfig,
  path: string,
  options: BackupOptions,
): Promise<BackupReport> {
  await removeAbandonedParts(path);
  const part = `${path}.${String(process.pid)}.part`;
  const taken = new StartError(`${path} already exists.`, {
    hint: "Choose another name, or move that file. Backups are never overwritten.",
    exitCode: 2,
  });
  if ((await stat(path).catch(() => undefined)) !== undefined) throw taken;
  const file = await open(part, "wx", 0o600).catch((error: unknown) => {
    throw new StartError(`${part} cannot be written: ${messageOf(error)}.`, {
      hint: "Name a file in a folder that exists and is writable.",
      exitCode: 2,
      cause: error,
    });
  });
  try {
    const report = await makeBackup(config, file.createWriteStream({ flush: true }), options);
    // A rename replaces files, so the name is taken first. Many file systems have no links, which would not.
    await (await open(path, "wx", 0o600)).close();
    await rename(part, path).catch(async (error: unknown) => {
      await rm(path, { force: true });
      throw error;
    });
    return report;
  } catch (error) {
    if (StartError.isInstance(error) || !(error instanceof Error && "syscall" in error && "code" in error)) throw error;
    if (error.code === "EEXIST") throw taken;
    throw new StartError(`The backup ${path} failed: ${messageOf(error)}.`, {
      hint: "Nothing of it remains. If its disk is full, free space there, or name a file on another one.",
      cause: error,
    });
  } finally {
    await file.close().catch(() => undefined);
    await rm(part, { force: true });
  }
}
