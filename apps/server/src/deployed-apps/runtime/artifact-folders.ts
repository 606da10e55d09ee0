import { createId, hasCode, KeyedMutex } from "@shoal/primitives";
import { createWriteStream } from "node:fs";
import { chmod, lstat, mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Blobs } from "../../storage/blobs/blobs.ts";
import { AppStartError } from "./app-runtime.ts";
import type { BoxTasks } from "./box-tasks.ts";
import { freshPrefix } from "./compiled-code.ts";
import { layout } from "./box-layout.ts";

/** Unpacked artifacts that no program uses. */
const keptFolders = 32;
const limits = { bytes: 4 * 2 ** 30, files: 300_000 } as const;

export interface UsedFolder {
  readonly path: string;
  /** Must be called once. */
  release(): void;
}

interface Kept {
  uses: number;
  /** On disk; 0 until it is measured. */
  bytes: number;
}

export interface ArtifactFoldersOptions {
  /** Of this server alone. */
  readonly folder: string;
  readonly tasks: BoxTasks;
  /** Keeps archives, which the boxes of programs unpack: they are on other machines. */
  readonly keepsArchives: boolean;
  /** Unused artifacts above it are removed, least recently used first. */
  readonly maxBytes: number;
}

/** Unpacks artifacts once per server, in boxes, because their content is untrusted; or keeps their archives. */
export class ArtifactFolders {
  readonly #folder: string;
  readonly #tasks: BoxTasks;
  readonly #keepsArchives: boolean;
  readonly #maxBytes: number;
  readonly #turns = new KeyedMutex();
  /** By artifact, least recently used first. */
  readonly #kept = new Map<string, Kept>();
  #evicting: Promise<void> = Promise.resolve();

  private constructor({ folder, keepsArchives, maxBytes, tasks }: ArtifactFoldersOptions) {
    this.#folder = folder;
    this.#keepsArchives = keepsArchives;
    this.#tasks = tasks;
    this.#maxBytes = maxBytes;
  }

  static async open(options: ArtifactFoldersOptions): Promise<ArtifactFolders> {
    const { folder } = options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const opened = new ArtifactFolders(options);
    const found: { readonly name: string; readonly usedMs: number }[] = [];
    for (const name of await readdir(folder)) {
      if (name.startsWith(freshPrefix)) await rm(join(folder, name), { recursive: true, force: true });
      else {
        const entry = await stat(join(folder, name));
        // Others are of another placement.
        if (entry.isFile() === options.keepsArchives) found.push({ name, usedMs: entry.mtimeMs });
        else await rm(join(folder, name), { recursive: true, force: true });
      }
    }
    for (const { name } of found.toSorted((a, b) => a.usedMs - b.usedMs)) opened.#kept.set(name, { uses: 0, bytes: 0 });
    opened.#tidy([...opened.#kept.keys()]);
    return opened;
  }

  /** @throws {AppStartError} when this server cannot read the artifact; other errors when it cannot be unpacked. */
  async use(artifact: string, blobs: Blobs, signal: AbortSignal): Promise<UsedFolder> {
    const path = join(this.#folder, artifact);
    const isNew = await this.#turns.run(artifact, async () => {
      const known = this.#kept.get(artifact);
      if (known === undefined) await this.#unpack(artifact, { blobs, path, signal });
      this.#kept.delete(artifact);
      this.#kept.set(artifact, { bytes: known?.bytes ?? 0, uses: (known?.uses ?? 0) + 1 });
      const now = new Date();
      await utimes(path, now, now);
      return known === undefined;
    });
    this.#tidy(isNew ? [artifact] : []);
    return {
      path,
      release: () => {
        const kept = this.#kept.get(artifact);
        if (kept !== undefined) kept.uses -= 1;
        this.#tidy([]);
      },
    };
  }

  async remove(artifact: string): Promise<void> {
    await this.#turns.run(artifact, async () => {
      if ((this.#kept.get(artifact)?.uses ?? 0) > 0) return;
      await removeWhole(this.#folder, artifact, () => this.#kept.delete(artifact));
    });
  }

  /** Resolves when removals have ended. */
  async close(): Promise<void> {
    await this.#evicting;
  }

  /** Measures new folders, then removes unused ones above the limits. */
  #tidy(unmeasured: readonly string[]): void {
    this.#evicting = this.#evicting
      .then(async () => {
        for (const artifact of unmeasured) {
          const bytes = await bytesOf(join(this.#folder, artifact));
          const kept = this.#kept.get(artifact);
          if (kept !== undefined) kept.bytes = bytes;
        }
        await this.#evict();
      })
      // Another attempt follows the next use.
      .catch(() => undefined);
  }

  async #evict(): Promise<void> {
    const unused = [...this.#kept].filter(([, { uses }]) => uses === 0);
    let surplus = unused.length - keptFolders;
    let bytes = [...this.#kept.values()].reduce((sum, each) => sum + each.bytes, 0);
    for (const [artifact, kept] of unused) {
      if (surplus <= 0 && bytes <= this.#maxBytes) return;
      await this.remove(artifact);
      if (this.#kept.has(artifact)) continue;
      surplus -= 1;
      bytes -= kept.bytes;
    }
  }

  async #unpack(
    artifact: string,
    { blobs, path, signal }: { readonly blobs: Blobs; readonly path: string; readonly signal: AbortSignal },
  ): Promise<void> {
    const blob = await blobs.get(artifact);
    if (blob === undefined)
      throw new AppStartError(`The build of the app is not ${blobs.place} If they do, deploy the app again.`);
    const fresh = join(this.#folder, `${freshPrefix}${artifact}`);
    const archive = `${fresh}.tar`;
    await Promise.all([fresh, archive].map((each) => rm(each, { recursive: true, force: true })));
    try {
      await pipeline(blob.stream, createWriteStream(archive, { mode: 0o644 }), { signal });
      if (this.#keepsArchives) {
        await rename(archive, path);
        return;
      }
      await unpackInBox(this.#tasks, { archive, to: fresh, limits }, signal);
      await rename(fresh, path);
    } catch (error) {
      await rm(fresh, { recursive: true, force: true });
      throw error;
    } finally {
      await rm(archive, { force: true });
    }
  }
}

/** Of folders whose removal has begun. */
export const removedPrefix = `${freshPrefix}removed-`;

/**
 * Renames the entry before the removal of its files, so that nothing uses the rest after a failure or the end of the
 * service. @param onGone - called when nothing has the name any more.
 */
export async function removeWhole(folder: string, name: string, onGone: () => void = () => undefined): Promise<void> {
  const removed = join(folder, `${removedPrefix}${createId()}`);
  await rename(join(folder, name), removed).catch((error: unknown) => {
    if (!hasCode(error, "ENOENT")) throw error;
  });
  onGone();
  await rm(removed, { recursive: true, force: true });
}

async function bytesOf(folder: string): Promise<number> {
  const found = await lstat(folder);
  if (found.isFile()) return found.blocks * 512;
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (await lstat(join(entry.parentPath, entry.name))).blocks * 512;
  return bytes;
}

/** Creates the folder `to`. */
export async function unpackInBox(
  tasks: BoxTasks,
  {
    archive,
    to,
    limits: { bytes, files },
  }: {
    readonly archive: string;
    readonly to: string;
    readonly limits: { readonly bytes: number; readonly files: number };
  },
  signal: AbortSignal,
): Promise<void> {
  await mkdir(to, { mode: 0o755 });
  await Promise.all([chmod(to, 0o755), chmod(archive, 0o644)]);
  await tasks.run(
    {
      program: {
        project: "",
        readOnly: [{ from: archive, to: layout.archive }],
        writable: [{ from: to, to: layout.unpacked }],
        scratch: [],
        folder: "/tmp",
        reach: [],
        memoryBytes: 512 * 2 ** 20,
        diskBytes: 16 * 2 ** 20,
        maxProcesses: 64,
      },
      task: (place) => ({
        type: "unpack",
        archive: place.pathOf(layout.archive),
        to: place.pathOf(layout.unpacked),
        max_bytes: bytes,
        max_files: files,
      }),
    },
    signal,
  );
}
