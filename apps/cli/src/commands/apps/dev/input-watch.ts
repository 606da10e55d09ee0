import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { bundlePrefix } from "./local-builds.ts";

/** Editors write a file in several steps. */
const settleMs = 60;

/** Calls `onChange` once for a burst of changes of files. It watches folders, because editors replace files. */
export class InputWatch {
  readonly #onChange: (name: string) => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #names = new Map<string, ReadonlySet<string> | undefined>();
  #timer: NodeJS.Timeout | undefined;

  constructor(onChange: (name: string) => void) {
    this.#onChange = onChange;
  }

  /** @param isBroken - also report other files of the same folders: one of them may be the missing one. */
  follow(files: readonly string[], isBroken: boolean): void {
    const byFolder = Map.groupBy(files, (file) => dirname(file));
    this.#names = new Map(
      [...byFolder].map(([folder, found]) => [
        folder,
        isBroken ? undefined : new Set(found.map((file) => basename(file))),
      ]),
    );
    for (const [folder, watcher] of this.#watchers)
      if (!this.#names.has(folder)) {
        watcher.close();
        this.#watchers.delete(folder);
      }
    for (const folder of this.#names.keys()) this.#open(folder);
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #open(folder: string): void {
    if (this.#watchers.has(folder)) return;
    try {
      const watcher = watch(folder, (_event, name) => {
        this.#onEvent(folder, name);
      });
      watcher.on("error", () => {
        watcher.close();
        this.#watchers.delete(folder);
      });
      this.#watchers.set(folder, watcher);
    } catch {
      // The folder is gone; the next build says so.
    }
  }

  #onEvent(folder: string, name: string | null): void {
    const names = this.#names.get(folder);
    if (name?.startsWith(bundlePrefix) === true || (name !== null && names?.has(name) === false)) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#onChange(name ?? folder);
    }, settleMs);
  }
}
