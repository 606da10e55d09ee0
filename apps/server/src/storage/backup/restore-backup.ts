import { messageOf } from "@shoal/primitives";
import { DatabaseError, openRestoreTarget, outageOf, removeEmbedded, type RestoreTarget } from "@shoal/database";
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import tar from "tar-stream";
import {
  databaseDirectory,
  openDataDir,
  readIfPresent,
  restoringMarker,
  writePrivateFile,
} from "../../config/data-dir.ts";
import type { Log } from "../../log/log.ts";
import { StartError } from "../../config/start-error.ts";
import { Closing, Manifest, maxTextBytes, names, secretFiles } from "./archive.ts";
import { type BackupConfig, blobsDirectory, refuseExternal } from "./make-backup.ts";

export interface RestoreReport {
  readonly manifest: Manifest;
  readonly rows: number;
  readonly files: number;
  /** Whether the backup contains the secret; otherwise the settings must provide it. */
  readonly secrets: boolean;
}

function damaged(what: string, cause?: unknown): StartError {
  return new StartError(`The backup is damaged: ${what}.`, {
    hint: "Nothing was restored. Use another backup.",
    cause,
  });
}

function holdsAnything(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).length > 0;
}

function placesOf(config: BackupConfig): { readonly folders: readonly string[]; readonly files: readonly string[] } {
  return {
    folders: [databaseDirectory(config.data_dir), blobsDirectory(config)],
    files: secretFiles.map((name) => join(config.data_dir, name)),
  };
}

function clear(config: BackupConfig): void {
  const { files, folders } = placesOf(config);
  for (const folder of folders) {
    const names = existsSync(folder) ? readdirSync(folder) : [];
    for (const name of names) rmSync(join(folder, name), { recursive: true, force: true, maxRetries: 5 });
    try {
      rmdirSync(folder);
    } catch {
      // It is missing, or a mount point.
    }
  }
  for (const file of files) rmSync(file, { force: true });
}

function markerText(config: BackupConfig): string {
  return `The restore is incomplete. Run it again.\nblobs: ${blobsDirectory(config)}\n`;
}

/** What the interrupted restore did not write, the next one must not remove. */
function refuseOtherBlobs(config: BackupConfig, marker: string): void {
  const before = /^blobs: (.+)$/m.exec(readIfPresent(marker) ?? "")?.[1] ?? join(config.data_dir, "blobs");
  const folder = blobsDirectory(config);
  if (before === folder || !holdsAnything(folder)) return;
  throw new StartError(`The interrupted restore wrote files into ${before}, and ${folder} already contains data.`, {
    hint: "Run it again with the same --blobs-dir and SHOAL_BLOBS_DIR, or choose an empty folder.",
    exitCode: 2,
  });
}

/** A failure of this machine, such as a full disk, says nothing about the backup. */
function explain(error: unknown, { data_dir }: BackupConfig): unknown {
  if (StartError.isInstance(error) || DatabaseError.isInstance(error)) return error;
  const isOfSystem = error instanceof Error && "syscall" in error;
  if (!isOfSystem && outageOf(error) === undefined) return damaged(messageOf(error), error);
  return new StartError(`The restore into ${data_dir} failed: ${messageOf(error)}.`, {
    hint: "Nothing was restored. Remove the cause, such as a full disk or a missing file, and run it again.",
    cause: error,
  });
}

function refuseToOverwrite(config: BackupConfig): void {
  const { files, folders } = placesOf(config);
  const present = [...folders.filter(holdsAnything), ...files.filter((file) => existsSync(file))];
  if (present.length === 0) return;
  throw new StartError(`The target already contains data: ${present.join(", ")}.`, {
    hint: "A restore never overwrites data. Choose an empty folder with --data-dir, or move the existing one.",
    exitCode: 2,
  });
}

class Restoration {
  readonly #config: BackupConfig;
  readonly #log: Log;
  #manifest: Manifest | undefined;
  #closing: Closing | undefined;
  #target: RestoreTarget | undefined;
  #rows = 0;
  #files = 0;
  #fileBytes = 0;

  constructor(config: BackupConfig, log: Log) {
    this.#config = config;
    this.#log = log;
  }

  async take(name: string, sizeBytes: number, content: AsyncIterable<unknown>): Promise<void> {
    if (this.#manifest === undefined) {
      if (name !== names.manifest) throw damaged("it does not begin like a Shoal backup");
      await this.#begin(await this.#textOf(name, sizeBytes, content));
    } else if (this.#closing !== undefined) throw damaged("it has data after its end");
    else if (name === names.closing)
      this.#closing = this.#parse(Closing, await this.#textOf(name, sizeBytes, content), name);
    else if (name.startsWith(names.database)) await this.#takeRows(name, await this.#textOf(name, sizeBytes, content));
    else if (name.startsWith(names.blobs)) await this.#takeBlob(name.slice(names.blobs.length), sizeBytes, content);
    else if (secretFiles.some((file) => name === names.secrets + file))
      writePrivateFile(
        join(this.#config.data_dir, name.slice(names.secrets.length)),
        await this.#textOf(name, sizeBytes, content),
      );
    else throw damaged(`it has an unknown part ${name.slice(0, 200)}`);
  }

  async finish(): Promise<RestoreReport> {
    if (this.#manifest === undefined || this.#target === undefined) throw damaged("it is empty");
    if (this.#closing === undefined) throw damaged("it is truncated");
    if (this.#closing.files !== this.#files || this.#closing.file_bytes !== this.#fileBytes)
      throw damaged(`it has ${String(this.#files)} files instead of ${String(this.#closing.files)}`);
    await this.#target.finish(this.#closing.rows);
    return { manifest: this.#manifest, rows: this.#rows, files: this.#files, secrets: this.#manifest.secrets };
  }

  async close(): Promise<void> {
    await this.#target?.close();
  }

  async #begin(said: string): Promise<void> {
    const manifest = this.#parse(Manifest, said, names.manifest);
    this.#target = await openRestoreTarget({
      dataDir: databaseDirectory(this.#config.data_dir),
      log: this.#log,
      migrations: manifest.migrations,
    });
    this.#manifest = manifest;
  }

  async #takeRows(name: string, said: string): Promise<void> {
    const rows = said.split("\n").filter((row) => row !== "");
    await this.#target?.write({ table: name.split("/")[1] ?? "", rows });
    this.#rows += rows.length;
  }

  async #takeBlob(name: string, sizeBytes: number, content: AsyncIterable<unknown>): Promise<void> {
    const root = resolve(blobsDirectory(this.#config));
    const path = resolve(root, name);
    if (!path.startsWith(root + sep)) throw damaged(`its part ${name.slice(0, 200)} is outside the blobs folder`);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(path, "wx", 0o600);
    await pipeline(content, file.createWriteStream({ flush: true }));
    this.#files += 1;
    this.#fileBytes += sizeBytes;
  }

  async #textOf(name: string, sizeBytes: number, content: AsyncIterable<unknown>): Promise<string> {
    if (sizeBytes > maxTextBytes) throw damaged(`its part ${name.slice(0, 200)} is too large`);
    return text(content as AsyncIterable<Buffer>);
  }

  #parse<T>(schema: { parse(value: unknown): T }, said: string, name: string): T {
    try {
      return schema.parse(JSON.parse(said));
    } catch (error) {
      throw damaged(`its ${name} is unreadable`, error);
    }
  }
}

/**
 * A marker file keeps the service from starting until the restore is complete; after an interruption, the next restore
 * starts over. Sessions that ran during the backup are ended.
 * @throws {StartError} and DatabaseError; nothing is restored then.
 */
export async function restoreBackup(config: BackupConfig, from: Readable, log: Log): Promise<RestoreReport> {
  refuseExternal(config);
  const dataDir = await openDataDir(config.data_dir);
  const marker = restoringMarker(config.data_dir);
  try {
    if (existsSync(marker)) {
      refuseOtherBlobs(config, marker);
      await removeEmbedded(databaseDirectory(config.data_dir), log);
      clear(config);
    }
    refuseToOverwrite(config);
    writeFileSync(marker, markerText(config), { mode: 0o600, flush: true });
    mkdirSync(blobsDirectory(config), { recursive: true, mode: 0o700 });
    const restoration = new Restoration(config, log);
    try {
      const entries = tar.extract();
      const read = pipeline(from, createZstdDecompress(), entries);
      // The loop reports the same error; this handler only prevents an unhandled rejection.
      read.catch(() => undefined);
      for await (const entry of entries) {
        await restoration.take(entry.header.name, entry.header.size, entry);
        entry.resume();
      }
      await read;
      const report = await restoration.finish();
      await restoration.close();
      rmSync(marker);
      return report;
    } catch (error) {
      await restoration.close();
      clear(config);
      rmSync(marker, { force: true });
      throw explain(error, config);
    }
  } finally {
    dataDir.release();
  }
}
