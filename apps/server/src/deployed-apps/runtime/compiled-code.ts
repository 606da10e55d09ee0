import type { ProgramPlace } from "@shoal/placement";
import { createId } from "@shoal/primitives";
import { chmod, type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { layout } from "./box-layout.ts";

/** Other versions of Node cannot use it. */
const compiledFolder = `.shoal-compiled-${process.version}`;

/** Of incomplete entries next to the unpacked apps; a server removes them when it starts. */
export const freshPrefix = ".new-";

const limits = { bytes: 64 * 2 ** 20, files: 20_000 } as const;

/** Code of an app that V8 has compiled. The first program of an app on a server records it for the later ones. */
export class CompiledCode {
  readonly #fresh: string;
  readonly #target: string;
  #file: FileHandle | undefined;
  #bytes = 0;
  #files = 0;
  #isRefused = false;
  readonly #isKnown: boolean;

  private constructor(app: string, isKnown: boolean) {
    this.#target = join(app, compiledFolder);
    this.#fresh = join(dirname(app), `${freshPrefix}compiled-${createId()}`);
    this.#isKnown = isKnown;
  }

  /** @param app - the folder of the unpacked app. */
  static async of(app: string): Promise<CompiledCode> {
    const isKnown = await stat(join(app, compiledFolder)).then(
      () => true,
      () => false,
    );
    return new CompiledCode(app, isKnown);
  }

  /** The field `compile_cache` of `Serve`. */
  cacheIn(place: Pick<ProgramPlace, "pathOf">): string {
    return this.#isKnown ? place.pathOf(`${layout.node}/${compiledFolder}`) : "record";
  }

  /**
   * Names and sizes come from the box. Above a limit, and after a failure of the disk, the rest is dropped.
   *
   * @param name - of one file, checked by the protocol.
   */
  begin(name: string): Promise<void> {
    this.#files += 1;
    this.#isRefused ||= this.#files > limits.files;
    return this.#unlessRefused(async () => {
      await this.#close();
      if (this.#files === 1) {
        await mkdir(this.#fresh);
        // Boxes have other users.
        await chmod(this.#fresh, 0o755);
      }
      this.#file = await open(join(this.#fresh, name), "wx");
      await this.#file.chmod(0o644);
    });
  }

  write(content: Buffer): Promise<void> {
    this.#bytes += content.length;
    this.#isRefused ||= this.#bytes > limits.bytes;
    return this.#unlessRefused(async () => {
      await this.#file?.writeFile(content);
    });
  }

  /** Without this code, programs only start more slowly. */
  async #unlessRefused(store: () => Promise<void>): Promise<void> {
    if (this.#isRefused) return;
    try {
      await store();
    } catch {
      this.#isRefused = true;
    }
  }

  /** Provides the code to later programs; the first of several wins. */
  async keep(): Promise<void> {
    await this.#close();
    if (this.#files > 0 && !this.#isRefused) await rename(this.#fresh, this.#target).catch(() => undefined);
    await this.discard();
  }

  async discard(): Promise<void> {
    await this.#close();
    await rm(this.#fresh, { recursive: true, force: true });
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }
}
