import type { FSWatcher, Stats } from "node:fs";

/** What is known of a directory beside its own facts. */
export interface DirectoryState {
  readonly children: Map<string, KnownEntry>;
  /** Checks of children that are queued, by name. */
  readonly pending: Map<string, PendingCheck>;
  /** Absent when the content is not watched: one level only, another kind of filesystem, or not readable. */
  watcher: FSWatcher | undefined;
  /** A scan is queued, of this directory's children or of everything below it. */
  queuedScan: "one level" | "deep" | undefined;
  relativePath: string | undefined;
  relativePathEpoch: number;
}

/** A queued look at one name, with what the system said about it. */
export interface PendingCheck {
  readonly directory: KnownEntry;
  readonly name: string;
  /** The name appeared or disappeared. */
  renamed: boolean;
  /** Content or attributes changed. */
  changed: boolean;
  /** Look at everything below too, whether or not it seems unchanged. */
  deep: boolean;
}

/** A file, link or directory as it was when last looked at. */
export interface KnownEntry {
  /** A `byteName`, as all names and paths here are. */
  name: string;
  /** Absent for the root, and for what has been taken out of the tree. */
  parent: KnownEntry | undefined;
  dev: number;
  ino: number;
  birthtimeMs: number;
  mtimeMs: number;
  ctimeMs: number;
  sizeBytes: number;
  /** When it was last looked at, milliseconds of the wall clock, as the times of files are. */
  checkedAtMs: number;
  /** Place in the order of events at which it took its present name. */
  placedAt: number;
  readonly directory: DirectoryState | undefined;
}

/** Coarsest step in which filesystems stamp times (a tick of a 100 Hz kernel, with room). */
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
      ? { children: new Map(), pending: new Map(), watcher: undefined, queuedScan: undefined, relativePath: undefined, relativePathEpoch: -1 }
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

/** Whether what is found under the same name may still be the same file. Inode numbers are reused at once, so the time of birth counts too. */
export function isSame(entry: KnownEntry, stats: Stats): boolean {
  return (
    entry.ino === stats.ino &&
    entry.dev === stats.dev &&
    entry.birthtimeMs === stats.birthtimeMs &&
    (entry.directory !== undefined) === stats.isDirectory()
  );
}

/**
 * Whether what is found under another name is the same file beyond doubt. Where a new file could have got the inode and, within one step of the
 * clock, the time of birth of a deleted one, more must agree; where that is not enough, or several names share the file, the answer is no.
 */
export function isSurelySame(entry: KnownEntry, stats: Stats): boolean {
  if (!isSame(entry, stats) || entry.birthtimeMs === 0) return false;
  if (entry.directory === undefined && stats.nlink > 1) return false;
  if (entry.checkedAtMs - entry.birthtimeMs > clockStepMs) return true;
  // A rename stamps ctime: without a later stamp than its birth it may be a new file.
  if (stats.ctimeMs === stats.birthtimeMs) return false;
  return entry.directory !== undefined || (entry.mtimeMs === stats.mtimeMs && entry.sizeBytes === stats.size);
}

/** The tree below a watched directory as far as it has been reported, found by path and by inode. */
export class KnownTree {
  readonly root: KnownEntry;
  readonly #byInode = new Map<number, KnownEntry | KnownEntry[]>();
  /** Changes whenever paths of directories may have changed. */
  #epoch = 0;
  #size = 0;

  constructor(root: KnownEntry) {
    this.root = root;
  }

  /** Entries below the root, those taken out but not forgotten included. */
  get size(): number {
    return this.#size;
  }

  /** Takes a new entry in. */
  add(parent: KnownEntry, entry: KnownEntry): void {
    this.#size++;
    const others = this.#byInode.get(entry.ino);
    if (others === undefined) this.#byInode.set(entry.ino, entry);
    else if (Array.isArray(others)) others.push(entry);
    else this.#byInode.set(entry.ino, [others, entry]);
    this.place(parent, entry, entry.name);
  }

  /** Puts an entry that is in no directory into one. */
  place(parent: KnownEntry, entry: KnownEntry, name: string): void {
    entry.name = name;
    entry.parent = parent;
    parent.directory?.children.set(name, entry);
    if (entry.directory) this.#epoch++;
  }

  /** Takes an entry, with all below it, out of its directory, and keeps it findable by inode. */
  detach(entry: KnownEntry): void {
    entry.parent?.directory?.children.delete(entry.name);
    entry.parent = undefined;
    if (entry.directory) this.#epoch++;
  }

  /** Forgets a detached entry and all below it, and ends their watchers. `visit` sees each, what is deeper first. */
  forget(entry: KnownEntry, visit?: (entry: KnownEntry, relativePath: string) => void, relativePath = entry.name): void {
    if (entry.directory) {
      for (const child of entry.directory.children.values()) this.forget(child, visit, visit ? `${relativePath}/${child.name}` : "");
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

  /** Entries with this inode number, on any device. */
  withInode(ino: number): readonly KnownEntry[] {
    const found = this.#byInode.get(ino);
    return found === undefined ? [] : Array.isArray(found) ? found : [found];
  }

  /** Path of a directory from the root, without a slash at either end; `undefined` when it, or one above it, has been taken out. */
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

  /** The latest place in the order of events at which a directory, or one above it, took its present name. */
  placedAt(directory: KnownEntry): number {
    let latest = 0;
    for (let at: KnownEntry | undefined = directory; at; at = at.parent) latest = Math.max(latest, at.placedAt);
    return latest;
  }
}
