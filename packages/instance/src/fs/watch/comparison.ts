import type { Stats } from "node:fs";
import { clockStepMs, entryOf, isSame, isSurelySame, refresh, type KnownEntry, type KnownTree, type PendingCheck } from "./known-tree.ts";
import { join, type Departure, type Outbox } from "./outbox.ts";

/** How far a chain of moves is followed when the last arrival is seen first. */
const maxChain = 32;

/** What a look at a name has found. */
interface Found {
  readonly stats: Stats;
  /** How many moves have been followed to get here. */
  readonly depth: number;
  /** What had the name before. */
  readonly inPlaceOf?: Departure | undefined;
}

export interface ComparisonInit {
  readonly tree: KnownTree;
  readonly outbox: Outbox;
  /** What is at a path from the root; `hidden` where it is out of reach for now. */
  look(relativePath: string): Stats | "hidden" | undefined;
  /** A path was not there; perhaps nothing is. */
  onMissing(): void;
  /** The content of a directory must be looked at; everything below it too where `deep`. */
  onDirectory(directory: KnownEntry, deep: boolean): void;
}

/** Compares what is there with what was last reported, and reports the difference. */
export class Comparison {
  /** Until then the tree is only taken in. */
  live = false;
  readonly #init: ComparisonInit;
  /** Paths found gone a moment ago: late events about them say nothing new. */
  #gone = new Set<string>();
  #goneBefore = new Set<string>();

  constructor(init: ComparisonInit) {
    this.#init = init;
  }

  /** Whether {@link forgetGone} has something to do. */
  get remembersGone(): boolean {
    return this.#gone.size > 0 || this.#goneBefore.size > 0;
  }

  /** Called from time to time, when all events of before the last call have been looked at. */
  forgetGone(): void {
    this.#goneBefore = this.#gone;
    this.#gone = new Set();
  }

  /** Looks at a name, and puts into the outbox what has changed. Calls `onDirectory` for what must be scanned. */
  check(check: PendingCheck, depth = 0): void {
    const { directory, name } = check;
    const parentPath = this.#init.tree.relativePath(directory);
    if (parentPath === undefined) return; // Taken out; scanned when it comes back.
    const path = join(parentPath, name);
    const known = directory.directory?.children.get(name);
    const stats = this.#init.look(path);
    if (stats === "hidden") return; // Its directory is scanned when that can be searched again.
    if (!stats) {
      this.#init.onMissing();
      if (known) this.#depart(known, directory, path);
      else if (check.renamed && this.live && !this.#gone.has(path) && !this.#goneBefore.has(path)) {
        // It came and went between two looks.
        this.#gone.add(path);
        this.#init.outbox.push("CREATE", path, undefined);
        this.#init.outbox.push("DELETE", path, undefined);
      }
    } else if (!known) this.#arrive(check, path, { stats, depth });
    else if (isSame(known, stats)) this.#compare(known, check, path, stats);
    else this.#arrive(check, path, { stats, depth, inPlaceOf: this.#depart(known, directory, path) });
  }

  #compare(known: KnownEntry, check: PendingCheck, path: string, stats: Stats): void {
    if (known.directory) {
      const mayBeAnother = check.renamed || check.deep;
      const mayHaveBecomeReadable = known.ctimeMs !== stats.ctimeMs && (check.changed || !known.directory.watcher);
      refresh(known, stats);
      if (mayBeAnother || mayHaveBecomeReadable) this.#init.onDirectory(known, check.deep);
      return;
    }
    // A second write within one step of the clock leaves the same times.
    const maybe = (check.changed || check.deep) && known.checkedAtMs - stats.mtimeMs <= clockStepMs;
    const changed = known.mtimeMs !== stats.mtimeMs || known.sizeBytes !== stats.size;
    // Whatever was done to it, an empty file has no other content than before: `touch` makes one and then stamps it.
    const stayedEmpty = known.sizeBytes === 0 && stats.size === 0;
    refresh(known, stats);
    if (this.live && (changed || maybe) && !stayedEmpty) this.#init.outbox.push("WRITE", path, false);
  }

  #depart(known: KnownEntry, parent: KnownEntry, path: string): Departure | undefined {
    this.#init.tree.detach(known);
    this.#gone.add(path);
    if (this.live) return this.#init.outbox.depart(known, parent, path);
    this.#init.tree.forget(known);
    return undefined;
  }

  #arrive(check: PendingCheck, path: string, found: Found): void {
    const { directory, name } = check;
    const { stats, depth, inPlaceOf } = found;
    this.#gone.delete(path);
    this.#goneBefore.delete(path);
    const origin = this.live ? this.#originOf(stats, depth) : undefined;
    // Looking at the origin may have shown that this directory is elsewhere by now; it is scanned there.
    const parentPath = this.#init.tree.relativePath(directory);
    if (parentPath === undefined || join(parentPath, name) !== path) return;
    const plain = inPlaceOf?.entry.directory === undefined && !stats.isDirectory();
    let entry: KnownEntry;
    if (origin && this.#init.outbox.arrive(origin, directory, path)) {
      entry = origin.entry;
      const written = entry.mtimeMs !== stats.mtimeMs || entry.sizeBytes !== stats.size;
      refresh(entry, stats);
      this.#init.tree.place(directory, entry, name);
      entry.placedAt = this.#init.outbox.position;
      if (inPlaceOf && plain) inPlaceOf.overwritten = true;
      if (entry.directory) this.#announce(entry, path);
      else if (written) this.#init.outbox.push("WRITE", path, false);
    } else {
      entry = entryOf(name, stats);
      this.#init.tree.add(directory, entry);
      entry.placedAt = this.#init.outbox.position;
      if (this.live) {
        // What was here may turn out to have moved away while the origin was looked for: then this path was empty.
        const replaces = inPlaceOf && plain && inPlaceOf.outcome !== "moved";
        const item = this.#init.outbox.push(replaces ? "WRITE" : "CREATE", path, entry.directory !== undefined);
        if (replaces) inPlaceOf.replacement = item;
        else if (check.changed && !entry.directory && stats.size > 0) this.#init.outbox.push("WRITE", path, false);
      }
    }
    if (entry.directory) this.#init.onDirectory(entry, true);
  }

  /** The departure that an arrival is the other half of. Where the thing still seems to be elsewhere, that place is looked at first. */
  #originOf(stats: Stats, depth: number): Departure | undefined {
    const departed = this.#init.outbox.departureOf(stats);
    if (departed || depth >= maxChain) return departed;
    for (const entry of [...this.#init.tree.withInode(stats.ino)]) {
      const parent = entry.parent;
      if (!parent || !isSurelySame(entry, stats)) continue;
      const parentPath = this.#init.tree.relativePath(parent);
      if (parentPath === undefined) continue;
      const there = this.#init.look(join(parentPath, entry.name));
      if (there === "hidden" || (there && isSame(entry, there))) continue;
      this.check({ directory: parent, name: entry.name, renamed: false, changed: false, deep: false }, depth + 1);
    }
    return this.#init.outbox.departureOf(stats);
  }

  /** Reports what is in a directory that moved: for those who only know CREATE it is new. */
  #announce(directory: KnownEntry, path: string): void {
    for (const child of directory.directory?.children.values() ?? []) {
      const childPath = join(path, child.name);
      this.#init.outbox.push("CREATE", childPath, child.directory !== undefined);
      if (child.directory) this.#announce(child, childPath);
    }
  }
}
