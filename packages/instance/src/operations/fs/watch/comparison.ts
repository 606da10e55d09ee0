import type { Stats } from "node:fs";
import {
  clockStepMs,
  entryOf,
  isSame,
  isSurelySame,
  refresh,
  type KnownEntry,
  type KnownTree,
  type PendingCheck,
} from "./known-tree.ts";
import { join, type Departure, type Outbox } from "./outbox.ts";

/** Limit for following a chain of moves that is seen in reverse order. */
const maxChain = 32;

interface Found {
  readonly stats: Stats;
  readonly depth: number;
  readonly inPlaceOf?: Departure | undefined;
}

export interface ComparisonInit {
  readonly tree: KnownTree;
  readonly outbox: Outbox;
  /** `hidden` while the path is unreachable. */
  look(relativePath: string): Stats | "hidden" | undefined;
  onMissing(): void;
  /** The content of a directory has to be checked; with `deep`, everything below it. */
  onDirectory(directory: KnownEntry, deep: boolean): void;
}

export class Comparison {
  /** While false, entries are recorded and not reported. */
  live = false;
  readonly #init: ComparisonInit;
  /** Paths that vanished recently, whose late events are ignored. */
  #gone = new Set<string>();
  #goneBefore = new Set<string>();

  constructor(init: ComparisonInit) {
    this.#init = init;
  }

  get remembersGone(): boolean {
    return this.#gone.size > 0 || this.#goneBefore.size > 0;
  }

  /** Call periodically, after all events before the previous call were checked. */
  forgetGone(): void {
    this.#goneBefore = this.#gone;
    this.#gone = new Set();
  }

  check(check: PendingCheck, depth = 0): void {
    const { directory, name } = check;
    const parentPath = this.#init.tree.relativePath(directory);
    if (parentPath === undefined) return; // Moved away; scanned when it comes back.
    const path = join(parentPath, name);
    const known = directory.directory?.children.get(name);
    const stats = this.#init.look(path);
    if (stats === "hidden") return; // Its directory is scanned when it becomes accessible.
    if (!stats) {
      this.#init.onMissing();
      if (known) this.#depart(known, directory, path);
      else if (check.renamed && this.live && !this.#gone.has(path) && !this.#goneBefore.has(path)) {
        // The file appeared and vanished between two checks.
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
    // A second write within one clock step does not change the times.
    const maybe = (check.changed || check.deep) && known.checkedAtMs - stats.mtimeMs <= clockStepMs;
    const changed = known.mtimeMs !== stats.mtimeMs || known.sizeBytes !== stats.size;
    // An empty file has no new content: `touch` creates one and then sets its times.
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
    // Checking the origin may have shown that this directory has moved on; it is scanned there.
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
        // Checking the origin may show that the previous entry moved away: then this path was empty.
        const replaces = inPlaceOf && plain && inPlaceOf.outcome !== "moved";
        const item = this.#init.outbox.push(replaces ? "WRITE" : "CREATE", path, entry.directory !== undefined);
        if (replaces) inPlaceOf.replacement = item;
        else if (check.changed && !entry.directory && stats.size > 0) this.#init.outbox.push("WRITE", path, false);
      }
    }
    if (entry.directory) this.#init.onDirectory(entry, true);
  }

  /** Checks the old place first if the entry still seems to be there. */
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

  /** Reports the content of a moved directory as new, for clients that only handle CREATE. */
  #announce(directory: KnownEntry, path: string): void {
    for (const child of directory.directory?.children.values() ?? []) {
      const childPath = join(path, child.name);
      this.#init.outbox.push("CREATE", childPath, child.directory !== undefined);
      if (child.directory) this.#announce(child, childPath);
    }
  }
}
