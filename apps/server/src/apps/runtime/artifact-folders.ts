import { KeyedMutex } from "@shoal/primitives";
import { createWriteStream } from "node:fs";
import { chmod, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Blobs } from "../../storage/blobs/blobs.ts";
import { AppStartError } from "./app-runtime.ts";
import type { BoxTasks } from "./box-tasks.ts";
import { layout } from "./box-layout.ts";

/** Unpacked artifacts that no program uses. */
const keptFolders = 32;
const limits = { bytes: 4 * 2 ** 30, files: 300_000 } as const;
const freshPrefix = ".new-";

export interface UsedFolder {
  readonly path: string;
  /** Must be called once. */
  release(): void;
}

/** Unpacks artifacts once per server, in boxes, because their content is untrusted. */
export class ArtifactFolders {
  readonly #folder: string;
  readonly #tasks: BoxTasks;
  readonly #turns = new KeyedMutex();
  /** Programs by artifact, least recently used first. */
  readonly #uses = new Map<string, number>();

  private constructor(folder: string, tasks: BoxTasks) {
    this.#folder = folder;
    this.#tasks = tasks;
  }

  /** @param folder - of this server alone. */
  static async open(folder: string, tasks: BoxTasks): Promise<ArtifactFolders> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const opened = new ArtifactFolders(folder, tasks);
    for (const name of await readdir(folder)) {
      if (name.startsWith(freshPrefix)) await rm(join(folder, name), { recursive: true, force: true });
      else opened.#uses.set(name, 0);
    }
    return opened;
  }

  /** @throws when the artifact does not exist, or cannot be unpacked. */
  async use(artifact: string, blobs: Blobs, signal: AbortSignal): Promise<UsedFolder> {
    const path = join(this.#folder, artifact);
    await this.#turns.run(artifact, async () => {
      if (!this.#uses.has(artifact)) await this.#unpack(artifact, { blobs, path, signal });
      const uses = this.#uses.get(artifact) ?? 0;
      this.#uses.delete(artifact);
      this.#uses.set(artifact, uses + 1);
    });
    void this.#evict();
    return {
      path,
      release: () => {
        this.#uses.set(artifact, (this.#uses.get(artifact) ?? 1) - 1);
      },
    };
  }

  async remove(artifact: string): Promise<void> {
    await this.#turns.run(artifact, async () => {
      if ((this.#uses.get(artifact) ?? 0) > 0) return;
      this.#uses.delete(artifact);
      await rm(join(this.#folder, artifact), { recursive: true, force: true });
    });
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
      await unpackInBox(this.#tasks, { archive, to: fresh, limits }, signal);
      await rename(fresh, path);
    } catch (error) {
      await rm(fresh, { recursive: true, force: true });
      throw error;
    } finally {
      await rm(archive, { force: true });
    }
    this.#uses.set(artifact, 0);
  }

  async #evict(): Promise<void> {
    const unused = [...this.#uses].filter(([, uses]) => uses === 0).map(([artifact]) => artifact);
    for (const artifact of unused.slice(0, Math.max(0, unused.length - keptFolders))) await this.remove(artifact);
  }
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
