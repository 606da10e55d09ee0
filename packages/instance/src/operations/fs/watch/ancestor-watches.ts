import { watch, type FSWatcher } from "node:fs";
import { dirname, join } from "node:path";
import { noteSystemEvent, onPossibleLoss } from "./event-queue-pressure.ts";
import { isForbidden, isMissing } from "./watch-errors.ts";

interface Ancestor {
  watcher: FSWatcher | undefined;
  /** Callbacks for a child of this name that appears or disappears. */
  readonly interested: Map<string, Set<() => void>>;
}

/** Reports when a directory's parent was moved or deleted, which the directory's own watcher does not report. */
export class AncestorWatches {
  readonly #top: string;
  readonly #ancestors = new Map<string, Ancestor>();
  #stopListening: (() => void) | undefined;

  constructor(top: string) {
    this.#top = top;
  }

  /** Calls `onChange` when a directory may be gone. @throws the error of `fs.watch` when no watches are left. */
  add(hostPath: string, onChange: () => void): () => void {
    const taken: (() => void)[] = [];
    const remove = (): void => {
      for (const give of taken.splice(0)) give();
    };
    try {
      for (let child = hostPath; child !== this.#top && dirname(child) !== child; child = dirname(child))
        taken.push(this.#take(child, onChange));
    } catch (error) {
      remove();
      throw error;
    }
    return remove;
  }

  #take(child: string, onChange: () => void): () => void {
    const path = dirname(child);
    const name = child.slice(path.endsWith("/") ? path.length : path.length + 1);
    let ancestor = this.#ancestors.get(path);
    if (!ancestor) {
      ancestor = { watcher: this.#watch(path), interested: new Map() };
      this.#ancestors.set(path, ancestor);
      this.#stopListening ??= onPossibleLoss(() => {
        this.#watchAnew();
      });
    }
    const { interested } = ancestor;
    const listeners = interested.get(name) ?? new Set();
    interested.set(name, listeners.add(onChange));
    return () => {
      listeners.delete(onChange);
      if (listeners.size === 0) interested.delete(name);
      if (interested.size > 0 || this.#ancestors.get(path)?.interested !== interested) return;
      this.#ancestors.get(path)?.watcher?.close();
      this.#ancestors.delete(path);
      if (this.#ancestors.size > 0) return;
      this.#stopListening?.();
      this.#stopListening = undefined;
    };
  }

  #watch(path: string): FSWatcher | undefined {
    try {
      const watcher = watch(path, { encoding: "buffer", persistent: false }, (kind, name) => {
        noteSystemEvent({ watcher, kind, name: name === null ? null : name.toString("latin1") });
        if (kind === "rename") this.#notify(path, name === null ? null : name.toString());
      });
      watcher.on("error", () => {
        watcher.close();
        this.#notify(path, null);
      });
      return watcher;
    } catch (error) {
      // A directory without read permission cannot be watched, and its parent reports its removal.
      if (isForbidden(error) || isMissing(error)) return undefined;
      throw error;
    }
  }

  #notify(path: string, name: string | null): void {
    const interested = this.#ancestors.get(path)?.interested;
    if (!interested) return;
    for (const child of name === null ? [...interested.keys()] : [name]) {
      const listeners = interested.get(child);
      if (!listeners) continue;
      this.#watchAnew(join(path, child));
      for (const listener of [...listeners]) listener();
    }
  }

  /** Renews the watchers of parents that may have been replaced: the old watcher follows the moved directory. */
  #watchAnew(path?: string): void {
    for (const [at, ancestor] of this.#ancestors) {
      if (path !== undefined && at !== path && !at.startsWith(`${path}/`)) continue;
      const former = ancestor.watcher;
      try {
        ancestor.watcher = this.#watch(at);
      } catch {
        // No watches left: keep the old one. Watches below still check their directory when a file vanishes.
        continue;
      }
      former?.close();
    }
  }
}
