import type { FSWatcher, Stats } from "node:fs";

export interface DirectoryState {
  readonly children: Map<string, KnownEntry>;
  readonly pending: Map<string, PendingCheck>;
  /** Absent when the content is not watched: not recursive, another filesystem, or unreadable. */
  watcher: FSWatcher | undefined;
  /** A queued scan of the children, or of everything below. */
  queuedScan: "one level" | "deep" | undefined;
  relativePath: string | undefined;
  relativePathEpoch: number;
}

export interface PendingCheck {
  readonly directory: KnownEntry;
  readonly name: string;
  renamed: boolean;
  changed: boolean;
  /** Check everything below, even if it seems unchanged. */
  deep: boolean;
}

export interface KnownEntry {
  /** A `byteName`, like all names and paths here. */
  name: string;
  /** Absent for the root and for detached entries. */
  parent: KnownEntry | undefined;
  dev: number;
  ino: number;
  birthtimeMs: number;
  mtimeMs: number;
  ctimeMs: number;
  sizeBytes: number;
  /** Wall-clock milliseconds, like the times of files. */
  checkedAtMs: number;
  /** Position in the order of events at which it got its name. */
  placedAt: number;
  readonly directory: DirectoryState | undefined;
}

/** Largest step of file times (one tick of a 100 Hz kernel, with a margin). */
export const clockStepMs = 20;

export function entryOf(name: string, stats: Stats): KnownEntry {
  const entry: KnownEntry = {
    name,
    parent: undefined,
    dev: stats.dev,
    ino: stats.ino,
    birthtimeMs: stats.birthtimeMs,
    mtimeMs: 0,
    ctimeMs: 0,
    sizeBytes: 0,
    checkedAtMs: 0,
    placedAt: 0,
    directory: stats.isDirectory()
      ? {
          children: new Map(),
          pending: new Map(),
          watcher: undefined,
          queuedScan: undefined,
          relativePath: undefined,
          relativePathEpoch: -1,
        }
      : undefined,
  };
  refresh(entry, stats);
  return entry;
}

export function refresh(entry: KnownEntry, stats: Stats): void {
  entry.mtimeMs = stats.mtimeMs;
  entry.ctimeMs = stats.ctimeMs;
  entry.sizeBytes = stats.size;
  entry.checkedAtMs = Date.now();
}

/** Whether an entry of the same name may be the same file. Inode numbers are reused, so the birth time counts too. */
export function isSame(entry: KnownEntry, stats: Stats): boolean {
  return (
    entry.ino === stats.ino &&
    entry.dev === stats.dev &&
    entry.birthtimeMs === stats.birthtimeMs &&
    (entry.directory !== undefined) === stats.isDirectory()
  );
}

/**
 * A new file may reuse inode and, within one clock step, birth time of a deleted one. False in doubt, and for hard
 * links.
 */
export function isSurelySame(entry: KnownEntry, stats: Stats): boolean {
  if (!isSame(entry, stats) || entry.birthtimeMs === 0) return false;
  if (entry.directory === undefined && stats.nlink > 1) return false;
  if (entry.checkedAtMs - entry.birthtimeMs > clockStepMs) return true;
  // A rename changes ctime: without a later one, it may be a new file.
  if (stats.ctimeMs === stats.birthtimeMs) return false;
  return entry.directory !== undefined || (entry.mtimeMs === stats.mtimeMs && entry.sizeBytes === stats.size);
}

export class KnownTree {
  readonly root: KnownEntry;
  readonly #byInode = new Map<number, KnownEntry | KnownEntry[]>();
  /** Changes whenever paths of directories may change. */
  #epoch = 0;
  #size = 0;

  constructor(root: KnownEntry) {
    this.root = root;
  }

  /** Includes detached entries, but not the root. */
  get size(): number {
    return this.#size;
  }

  add(parent: KnownEntry, entry: KnownEntry): void {
    this.#size++;
    const others = this.#byInode.get(entry.ino);
    if (others === undefined) this.#byInode.set(entry.ino, entry);
    else if (Array.isArray(others)) others.push(entry);
    else this.#byInode.set(entry.ino, [others, entry]);
    this.place(parent, entry, entry.name);
  }

  place(parent: KnownEntry, entry: KnownEntry, name: string): void {
    entry.name = name;
    entry.parent = parent;
    parent.directory?.children.set(name, entry);
    if (entry.directory) this.#epoch++;
  }

  /** Detaches an entry and everything below it. It can still be found by inode. */
  detach(entry: KnownEntry): void {
    entry.parent?.directory?.children.delete(entry.name);
    entry.parent = undefined;
    if (entry.directory) this.#epoch++;
  }

  /** Removes a detached entry with everything below, and closes watchers. Calls `visit` for each, children first. */
  forget(
    entry: KnownEntry,
    visit?: (entry: KnownEntry, relativePath: string) => void,
    relativePath = entry.name,
  ): void {
    if (entry.directory) {
      for (const child of entry.directory.children.values())
        this.forget(child, visit, visit ? `${relativePath}/${child.name}` : "");
      entry.directory.children.clear();
      entry.directory.watcher?.close();
      entry.directory.watcher = undefined;
    }
    visit?.(entry, relativePath);
    entry.parent = undefined;
    if (entry === this.root) return;
    this.#size--;
    const others = this.#byInode.get(entry.ino);
    if (others === entry) this.#byInode.delete(entry.ino);
    else if (Array.isArray(others)) {
      others.splice(others.indexOf(entry), 1);
      if (others.length === 0) this.#byInode.delete(entry.ino);
    }
  }

  withInode(ino: number): readonly KnownEntry[] {
    const found = this.#byInode.get(ino);
    return found === undefined ? [] : Array.isArray(found) ? found : [found];
  }

  /** Path below the root, without slashes at the ends; `undefined` if detached. */
  relativePath(directory: KnownEntry): string | undefined {
    if (directory === this.root) return "";
    const state = directory.directory;
    if (state?.relativePathEpoch === this.#epoch) return state.relativePath;
    const above = directory.parent && this.relativePath(directory.parent);
    const path = above === undefined ? undefined : above === "" ? directory.name : `${above}/${directory.name}`;
    if (state) {
      state.relativePath = path;
      state.relativePathEpoch = this.#epoch;
    }
    return path;
  }

  placedAt(directory: KnownEntry): number {
    let latest = 0;
    for (let at: KnownEntry | undefined = directory; at; at = at.parent) latest = Math.max(latest, at.placedAt);
    return latest;
  }
}
