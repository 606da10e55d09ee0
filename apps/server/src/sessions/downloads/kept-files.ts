import { BrowserDownload } from "@shoal/schemas";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { MeasuredContent } from "../../storage/blobs/measured-content.ts";
import { openRange, openStream, type SealedRange, sealStream } from "../../storage/blobs/sealed-stream.ts";
import type { Secrets } from "../../storage/secrets.ts";

/** A session and its project. */
export interface KeptOf {
  readonly sessionId: string;
  readonly projectId: string;
}

/** Strict, since ids become file names. */
const idPattern = /^[\w-]{1,64}$/;

export function isDownloadId(text: string): boolean {
  return idPattern.test(text);
}

/** A sealed file and a sealed description each, in one folder per session below the folder of its project. */
export class KeptFiles {
  readonly #directory: string;
  readonly #secrets: Pick<Secrets, "keysOfStream" | "seal" | "unsealStored">;

  constructor(directory: string, secrets: Pick<Secrets, "keysOfStream" | "seal" | "unsealStored">) {
    this.#directory = directory;
    this.#secrets = secrets;
  }

  folders(): Promise<KeptOf[]> {
    return this.#names(this.#directory).then(async (projects) =>
      (
        await Promise.all(
          projects.map(async (projectId) =>
            (await this.#names(join(this.#directory, projectId))).map((sessionId) => ({ sessionId, projectId })),
          ),
        )
      ).flat(),
    );
  }

  /** Ids of complete descriptions. */
  async ids(of: KeptOf): Promise<string[]> {
    const names = await this.#names(this.#folderOf(of));
    return names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
  }

  async describe(of: KeptOf, id: string): Promise<BrowserDownload | undefined> {
    const sealed = await readFile(this.#pathOf(of, id, "json")).catch(() => undefined);
    const text = sealed && this.#secrets.unsealStored(sealed, purposeOf(of));
    return text === undefined ? undefined : BrowserDownload.parse(JSON.parse(text));
  }

  /**
   * Seals the content into a file. @throws {BlobTooLarge} above `maxBytes`; the file is then removed.
   * @returns `storedBytes` is the size on the disk.
   */
  async store(
    of: KeptOf,
    id: string,
    content: Readable,
    maxBytes: number,
  ): Promise<{ readonly sizeBytes: number; readonly sha256: string; readonly storedBytes: number }> {
    const path = this.#pathOf(of, id, "bin");
    const measured = new MeasuredContent(content, maxBytes);
    try {
      await mkdir(this.#folderOf(of), { recursive: true, mode: 0o700 });
      await pipeline(sealStream(measured.chunks(), this.#keysOf(of)), createWriteStream(path, { mode: 0o600 }));
      return { ...measured.result(), storedBytes: (await stat(path)).size };
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  }

  /**
   * Call it after the content is stored: a content without a description counts as incomplete.
   * @returns its size on the disk.
   */
  async write(of: KeptOf, download: BrowserDownload): Promise<number> {
    const path = this.#pathOf(of, download.download_id, "json");
    await mkdir(this.#folderOf(of), { recursive: true, mode: 0o700 });
    const sealed = this.#secrets.seal(JSON.stringify(download), purposeOf(of));
    await writeFile(`${path}.new`, sealed, { mode: 0o600 });
    await rename(`${path}.new`, path);
    return sealed.length;
  }

  read(of: KeptOf, id: string): Readable {
    const sealed = createReadStream(this.#pathOf(of, id, "bin"));
    const content = Readable.from(openStream(sealed as AsyncIterable<Buffer>, this.#keysOf(of)), { objectMode: false });
    // The generator sees the error, but it does not run before the content is read, and never if it is not read.
    sealed.on("error", () => undefined);
    content.once("close", () => sealed.destroy());
    return content;
  }

  /** Inclusive offsets of the content. */
  readRange(of: KeptOf, id: string, range: SealedRange): Readable {
    const path = this.#pathOf(of, id, "bin");
    const read = (start: number, end: number) => Promise.resolve(createReadStream(path, { start, end }));
    return Readable.from(openRange(read, range, this.#keysOf(of)), { objectMode: false });
  }

  /** Sizes on the disk. */
  async usedBytes(of: KeptOf): Promise<number> {
    const folder = this.#folderOf(of);
    const sizes = (await this.#names(folder)).map(
      async (name) => (await stat(join(folder, name)).catch(() => undefined))?.size,
    );
    return (await Promise.all(sizes)).reduce<number>((sum, size) => sum + (size ?? 0), 0);
  }

  /** Starts the retention of a session. */
  async touch(of: KeptOf): Promise<void> {
    const now = new Date();
    await utimes(this.#folderOf(of), now, now).catch(() => undefined);
  }

  /** When the latest file was kept, or the session ended. */
  async changedMs(of: KeptOf): Promise<number> {
    return (await stat(this.#folderOf(of)).catch(() => undefined))?.mtimeMs ?? Date.now();
  }

  async remove(of: KeptOf): Promise<void> {
    await rm(this.#folderOf(of), { recursive: true, force: true });
    const left = await this.#names(join(this.#directory, of.projectId));
    if (left.length === 0) await rm(join(this.#directory, of.projectId), { recursive: true, force: true });
  }

  /** @param keptFrom - start of the retention of the others, which a removal would move. */
  async removeSome(of: KeptOf, ids: readonly string[], keptFrom: Date): Promise<void> {
    for (const id of ids) {
      await rm(this.#pathOf(of, id, "json"), { force: true });
      await rm(this.#pathOf(of, id, "bin"), { force: true });
    }
    await utimes(this.#folderOf(of), keptFrom, keptFrom);
  }

  #keysOf(of: KeptOf) {
    return (salt: Uint8Array) => this.#secrets.keysOfStream(salt, purposeOf(of));
  }

  #folderOf({ projectId, sessionId }: KeptOf): string {
    return join(this.#directory, projectId, sessionId);
  }

  #pathOf(of: KeptOf, id: string, extension: "bin" | "json"): string {
    return join(this.#folderOf(of), `${id}.${extension}`);
  }

  #names(folder: string): Promise<string[]> {
    return readdir(folder).catch(() => []);
  }
}

function purposeOf({ projectId, sessionId }: KeptOf): string {
  return `downloads of ${projectId}/${sessionId}`;
}
