import { createWriteStream } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FileStore } from "./box-tasks.ts";

const maxFiles = 64;
const maxBytes = 8 * 2 ** 30;
const maxFileBytes = 2 * 2 ** 30;

/** Archives of installed dependencies, by the hash of what decides about them. Boxes read them and cannot write. */
export class DependencyCache {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async find(hash: string): Promise<string | undefined> {
    const path = join(this.#folder, `${hash}.tar`);
    const now = new Date();
    return utimes(path, now, now).then(
      () => path,
      () => undefined,
    );
  }

  /** Keeps a file that a build sends. The file becomes visible when it is complete. */
  storeFor(hash: string): FileStore {
    return async (content) => {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const fresh = await mkdtemp(join(this.#folder, ".new-"));
      try {
        const path = join(fresh, "content");
        await pipeline(bounded(content), createWriteStream(path));
        await chmod(path, 0o644);
        await rename(path, join(this.#folder, `${hash}.tar`));
      } finally {
        await rm(fresh, { recursive: true, force: true });
      }
      await this.#evict();
    };
  }

  /** Removes incomplete files of a killed server. */
  async open(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names.filter((each) => each.startsWith(".new-")))
      await rm(join(this.#folder, name), { recursive: true, force: true });
  }

  async #evict(): Promise<void> {
    const files = await Promise.all(
      (await readdir(this.#folder)).map(async (name) => {
        const found = await stat(join(this.#folder, name)).catch(() => undefined);
        return { name, usedMs: found?.mtimeMs ?? 0, bytes: found?.size ?? 0, isFile: found?.isFile() === true };
      }),
    );
    let bytes = 0;
    const newest = files.filter(({ isFile }) => isFile).toSorted((a, b) => b.usedMs - a.usedMs);
    for (const [index, file] of newest.entries()) {
      bytes += file.bytes;
      if (index >= maxFiles || bytes > maxBytes) await rm(join(this.#folder, file.name), { force: true });
    }
  }
}

async function* bounded(content: Readable): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxFileBytes) throw new Error(`The dependencies have more than ${String(maxFileBytes)} bytes.`);
    yield chunk;
  }
}
