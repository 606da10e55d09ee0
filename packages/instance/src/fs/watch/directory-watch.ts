import type { FileSystemEvent } from "@shoal/schemas";
import { lstatSync, readdirSync, statfsSync, statSync, watch, type Stats } from "node:fs";
import { basename } from "node:path";
import type { AncestorWatches } from "./ancestor-watches.ts";
import { noteSystemEvent, onPossibleLoss } from "./event-queue-pressure.ts";
import { Fifo } from "./fifo.ts";
import { clockStepMs, entryOf, isSame, isSurelySame, KnownTree, refresh, type KnownEntry, type PendingCheck } from "./known-tree.ts";
import { join, Outbox, type Departure } from "./outbox.ts";
import { isForbidden, isMissing, silentFilesystem, tooManyEntries, watchError } from "./watch-errors.ts";

/** How long a departure may wait for the arrival that makes it a move. The kernel reports both in one breath. */
const pairWithinMs = 20;
/** How long looking at files may keep the event loop. */
const sliceMs = 8;
/** How far a chain of moves is followed when the last arrival is seen first. */
const maxChain = 32;
/** After so many errors of the system's watchers, each of which was made up for by a scan, a watch is given up. */
const maxWatcherErrors = 100;
/** A path of /name/. makes the kernel's notes about the directory itself arrive under the name `.`, which no child can have. */
const isLinux = process.platform === "linux";
/** proc, sysfs, cgroup, cgroup2, devpts, debugfs, tracefs, securityfs, bpf: they change without saying so, or without end. */
const silentFilesystems = new Set([0x9fa0, 0x62656572, 0x27e0eb, 0x63677270, 0x1cd1, 0x64626720, 0x74726163, 0x73636673, 0xcafe4a11]);

/** Names of the files that the service itself writes before it moves them into place. */
export const temporaryName = /^\.shoal-[a-z0-9]+\.part$/;

/** What a watch is told to do, and whom it tells. */
export interface DirectoryWatchInit {
  /** The directory in this process's filesystem. */
  readonly hostPath: string;
  /** The same directory as clients name it, without a slash at its end. */
  readonly apiPath: string;
  readonly recursive: boolean;
  readonly ancestors: AncestorWatches;
  /** Files and directories that all watches of a session together may cover. */
  readonly entries: { used: number; readonly max: number };
  readonly onEvent: (event: FileSystemEvent) => void;
  /** Nothing follows: the directory is gone, or the watch could not go on. */
  readonly onEnd: (failure?: Error) => void;
}

type Job =
  | { readonly kind: "check"; readonly check: PendingCheck }
  | { readonly kind: "scan"; readonly directory: KnownEntry }
  | { readonly kind: "call"; readonly call: () => void };

/** What a look at a name has found. */
interface Found {
  readonly stats: Stats;
  /** How many moves have been followed to get here. */
  readonly depth: number;
  /** What had the name before. */
  readonly inPlaceOf?: Departure | undefined;
}

/**
 * Watches a directory through one `fs.watch` for each directory. What the system says is only taken as a hint where to look: each hint queues a
 * look at one name, and what is found is compared with what was last reported. So events that come late, twice, or for files that were
 * found by a scan already do no harm, and where the kernel dropped some a scan makes up for them.
 *
 * Names that are not UTF-8 are passed over, as no path on the wire can name them; so is what lies in directories that may not be read, until they may.
 *
 * Looking is synchronous, in slices: a few microseconds for each file, in the order of the kernel's events, with nothing to race against.
 */
export class DirectoryWatch {
  readonly #init: DirectoryWatchInit;
  readonly #tree: KnownTree;
  readonly #outbox: Outbox;
  /** In the order of the system's events. */
  readonly #jobs = new Fifo<Job>();
  /** What those lead to; done first, so that a job is done with all that follows from it before the next begins. */
  readonly #followUps = new Fifo<Job>();
  #pumping = false;
  #live = false;
  #ended = false;
  #rootGone = false;
  #rootMayBeGone = false;
  #reconciling = false;
  #settling: NodeJS.Timeout | undefined;
  /** Paths found gone a moment ago: late events about them say nothing new. */
  #gone = new Set<string>();
  #goneBefore = new Set<string>();
  #counted = 0;
  #watcherErrors = 0;
  readonly #stopListening: () => void;
  #leaveAncestors: (() => void) | undefined;
  #onFailure: ((error: Error) => void) | undefined;

  private constructor(init: DirectoryWatchInit, root: KnownEntry) {
    this.#init = init;
    this.#tree = new KnownTree(root);
    this.#outbox = new Outbox(this.#tree, init.apiPath, init.onEvent);
    this.#stopListening = onPossibleLoss(() => {
      this.#reconcile();
    });
  }

  /**
   * Resolves once the watch is in force: what happens from then on is reported, what is there already is not.
   *
   * @throws {ServiceError} when the directory is missing, not a directory, not readable, or the system has no watches left.
   */
  static async start(init: DirectoryWatchInit): Promise<DirectoryWatch> {
    let stats: Stats;
    try {
      stats = statSync(init.hostPath);
    } catch (error) {
      throw watchError(error, init.apiPath);
    }
    if (!stats.isDirectory()) throw watchError(Object.assign(new Error("not a directory"), { code: "ENOTDIR" }), init.apiPath);
    const root = entryOf(basename(init.apiPath), stats);
    if (isSilent(init.hostPath)) throw silentFilesystem(init.apiPath);
    const started = new DirectoryWatch(init, root);
    try {
      await started.#begin();
    } catch (error) {
      started.#dispose();
      throw watchError(error, init.apiPath);
    }
    return started;
  }

  /** Ends the watch, after reporting what happened until now. */
  async stop(): Promise<void> {
    if (this.#ended) return;
    await this.#caughtUp();
    this.#finish();
  }

  async #begin(): Promise<void> {
    this.#leaveAncestors = this.#init.ancestors.add(this.#init.hostPath, () => {
      this.#rootMayBeGone = true;
      this.#enqueue({ kind: "call", call: () => undefined });
    });
    const failed = new Promise<never>((_resolve, reject) => {
      this.#onFailure = reject;
    });
    this.#scanSoon(this.#tree.root, false);
    await Promise.race([this.#caughtUp(), failed]);
    this.#onFailure = undefined;
    if (this.#rootGone) throw Object.assign(new Error("gone"), { code: "ENOENT" });
    this.#live = true;
  }

  /** Resolves when everything that had happened by now has been looked at. */
  async #caughtUp(): Promise<void> {
    // Between two check phases lies a poll phase, in which the kernel's queue is read to its end.
    await nextCheckPhase();
    await nextCheckPhase();
    await new Promise<void>((resolve) => {
      this.#enqueue({ kind: "call", call: resolve });
    });
  }

  #onSystemEvent(directory: KnownEntry, kind: string, name: string | null): void {
    noteSystemEvent({ watcher: directory, kind, name });
    if (this.#ended) return;
    if (name === null || name === "") {
      this.#scanSoon(directory, false);
      return;
    }
    const isSelf = isLinux ? name === "." : name === directory.name && !directory.directory?.children.has(name);
    if (!isSelf) {
      this.#checkSoon(directory, name, kind === "rename" ? "renamed" : "changed");
    } else if (kind === "rename") {
      // The watched inode was moved or deleted: another may have its place.
      if (directory === this.#tree.root) {
        this.#rootMayBeGone = true;
        this.#scanSoon(directory, false);
      } else if (directory.parent) this.#checkSoon(directory.parent, directory.name, "deep");
    }
  }

  #checkSoon(directory: KnownEntry, name: string, why: "renamed" | "changed" | "deep" | "listed"): void {
    // U+FFFD: a name that is not UTF-8, which no path on the wire can name.
    if (temporaryName.test(name) || name.includes("\uFFFD")) return;
    const pending = directory.directory?.pending;
    let check = pending?.get(name);
    const isNew = check === undefined;
    check ??= { directory, name, renamed: false, changed: false, deep: false };
    pending?.set(name, check);
    if (why === "listed" || why === "deep") this.#enqueue({ kind: "check", check }, this.#followUps);
    else if (isNew) this.#enqueue({ kind: "check", check });
    if (why === "renamed") check.renamed = true;
    if (why === "changed") check.changed = true;
    if (why === "deep") check.deep = true;
  }

  #scanSoon(directory: KnownEntry, deep: boolean): void {
    const state = directory.directory;
    if (!state) return;
    const queued = state.queuedScan !== undefined;
    if (deep) state.queuedScan = "deep";
    else state.queuedScan ??= "one level";
    if (!queued) this.#enqueue({ kind: "scan", directory }, this.#followUps);
  }

  #enqueue(job: Job, queue = this.#jobs): void {
    queue.push(job);
    if (this.#pumping) return;
    this.#pumping = true;
    setImmediate(this.#pump);
  }

  readonly #pump = (): void => {
    const until = performance.now() + sliceMs;
    try {
      for (let count = 1; ; count++) {
        const job = this.#followUps.shift() ?? this.#jobs.shift();
        if (!job) break;
        this.#run(job);
        if (count % 32 === 0 && performance.now() > until) break;
      }
      if (this.#rootMayBeGone) this.#examineRoot();
      this.#countEntries();
    } catch (error) {
      this.#fail(watchError(error, this.#init.apiPath));
    }
    this.#outbox.send();
    this.#settleLater();
    if (this.#followUps.length + this.#jobs.length > 0) setImmediate(this.#pump);
    else this.#pumping = false;
  };

  #run(job: Job): void {
    if (job.kind === "call") job.call();
    else if (this.#ended) return;
    else if (job.kind === "scan") this.#scan(job.directory);
    else {
      const { check } = job;
      const pending = check.directory.directory?.pending;
      if (pending?.get(check.name) !== check) return; // Done already.
      pending.delete(check.name);
      this.#check(check, 0);
    }
  }

  /** Watches a directory anew and queues a look at everything that is, or was, in it. */
  #scan(directory: KnownEntry): void {
    const state = directory.directory;
    if (!state) return;
    const why = state.queuedScan === "deep" ? "deep" : "listed";
    state.queuedScan = undefined;
    const relativePath = this.#tree.relativePath(directory);
    if (relativePath === undefined || this.#rootGone) return;
    const hostPath = this.#hostPath(relativePath);
    let names: string[];
    const former = state.watcher;
    try {
      // Before the listing, so that nothing falls between; and before the former is closed, for the same reason.
      const watcher = watch(isLinux ? `${hostPath}/.` : hostPath, { persistent: false }, (kind, name) => {
        this.#onSystemEvent(directory, kind, name);
      });
      watcher.on("error", (error) => {
        if (state.watcher !== watcher) return;
        state.watcher = undefined;
        watcher.close();
        if (this.#watcherErrors++ < maxWatcherErrors) this.#checkAgain(directory);
        else this.#fail(watchError(error, this.#init.apiPath));
      });
      state.watcher = watcher;
      former?.close();
      names = readdirSync(hostPath);
      const stats = lstatSync(hostPath, { throwIfNoEntry: false });
      if (directory !== this.#tree.root && !(stats && isSame(directory, stats))) {
        // Something else, a link perhaps, came into its place meanwhile.
        this.#checkAgain(directory);
        return;
      }
    } catch (error) {
      if (isMissing(error)) this.#checkAgain(directory);
      else if (!isForbidden(error) || directory === this.#tree.root) throw error;
      return;
    }
    for (const name of names) this.#checkSoon(directory, name, why);
    if (state.children.size > 0) for (const name of state.children.keys()) this.#checkSoon(directory, name, why);
  }

  #checkAgain(directory: KnownEntry): void {
    if (directory === this.#tree.root) this.#rootMayBeGone = true;
    else if (directory.parent) this.#checkSoon(directory.parent, directory.name, "deep");
  }

  #check(check: PendingCheck, depth: number): void {
    const { directory, name } = check;
    const parentPath = this.#tree.relativePath(directory);
    if (parentPath === undefined) return; // Taken out; scanned when it comes back.
    const path = join(parentPath, name);
    const known = directory.directory?.children.get(name);
    const stats = this.#look(path);
    if (!stats) {
      this.#rootMayBeGone ||= !this.#rootGone;
      if (known) this.#depart(known, directory, path);
      else if (check.renamed && this.#live && !this.#gone.has(path) && !this.#goneBefore.has(path)) {
        // It came and went between two looks.
        this.#gone.add(path);
        this.#outbox.push("CREATE", path, undefined);
        this.#outbox.push("DELETE", path, undefined);
      }
    } else if (!known) this.#arrive(check, path, { stats, depth });
    else if (isSame(known, stats)) this.#compare(known, check, path, stats);
    else this.#arrive(check, path, { stats, depth, inPlaceOf: this.#depart(known, directory, path) });
  }

  #compare(known: KnownEntry, check: PendingCheck, path: string, stats: Stats): void {
    if (known.directory) {
      const mayBeAnother = check.renamed || check.deep;
      const becameReadable = !known.directory.watcher && known.ctimeMs !== stats.ctimeMs;
      refresh(known, stats);
      if ((mayBeAnother || becameReadable) && this.#mayDescend(check.directory, stats, path)) this.#scanSoon(known, check.deep);
      return;
    }
    // A second write within one step of the clock leaves the same times.
    const maybe = check.changed && known.checkedAtMs - stats.mtimeMs <= clockStepMs;
    const changed = known.mtimeMs !== stats.mtimeMs || known.sizeBytes !== stats.size;
    refresh(known, stats);
    if (this.#live && (changed || maybe)) this.#outbox.push("WRITE", path, false);
  }

  #depart(known: KnownEntry, parent: KnownEntry, path: string): Departure | undefined {
    this.#tree.detach(known);
    this.#gone.add(path);
    if (this.#live) return this.#outbox.depart(known, parent, path);
    this.#tree.forget(known);
    return undefined;
  }

  #arrive(check: PendingCheck, path: string, found: Found): void {
    const { directory, name } = check;
    const { stats, depth, inPlaceOf } = found;
    this.#gone.delete(path);
    this.#goneBefore.delete(path);
    const origin = this.#live ? this.#originOf(stats, depth) : undefined;
    // Looking at the origin may have shown that this directory is elsewhere by now; it is scanned there.
    if (this.#tree.relativePath(directory) === undefined) return;
    const plain = inPlaceOf?.entry.directory === undefined && !stats.isDirectory();
    let entry: KnownEntry;
    if (origin && this.#outbox.arrive(origin, directory, path)) {
      entry = origin.entry;
      const written = entry.mtimeMs !== stats.mtimeMs || entry.sizeBytes !== stats.size;
      refresh(entry, stats);
      this.#tree.place(directory, entry, name);
      entry.placedAt = this.#outbox.position;
      if (inPlaceOf && plain) inPlaceOf.overwritten = true;
      if (entry.directory) this.#announce(entry, path);
      else if (written) this.#outbox.push("WRITE", path, false);
    } else {
      entry = entryOf(name, stats);
      this.#tree.add(directory, entry);
      entry.placedAt = this.#outbox.position;
      if (this.#live) {
        const replaces = inPlaceOf && plain;
        const item = this.#outbox.push(replaces ? "WRITE" : "CREATE", path, entry.directory !== undefined);
        if (replaces) inPlaceOf.replacement = item;
        else if (check.changed && !entry.directory && stats.size > 0) this.#outbox.push("WRITE", path, false);
      }
    }
    if (entry.directory && this.#mayDescend(directory, stats, path)) this.#scanSoon(entry, true);
  }

  /** The departure that an arrival is the other half of. Where the thing still seems to be elsewhere, that place is looked at first. */
  #originOf(stats: Stats, depth: number): Departure | undefined {
    const departed = this.#outbox.departureOf(stats);
    if (departed || depth >= maxChain) return departed;
    for (const entry of [...this.#tree.withInode(stats.ino)]) {
      const parent = entry.parent;
      if (!parent || !isSurelySame(entry, stats)) continue;
      const parentPath = this.#tree.relativePath(parent);
      if (parentPath === undefined) continue;
      const there = this.#look(join(parentPath, entry.name));
      if (there && isSame(entry, there)) continue;
      this.#check({ directory: parent, name: entry.name, renamed: false, changed: false, deep: false }, depth + 1);
    }
    return this.#outbox.departureOf(stats);
  }

  /** Reports what is in a directory that moved: for those who only know CREATE it is new. */
  #announce(directory: KnownEntry, path: string): void {
    for (const child of directory.directory?.children.values() ?? []) {
      const childPath = join(path, child.name);
      this.#outbox.push("CREATE", childPath, child.directory !== undefined);
      if (child.directory) this.#announce(child, childPath);
    }
  }

  #mayDescend(parent: KnownEntry, stats: Stats, path: string): boolean {
    return this.#init.recursive && (stats.dev === parent.dev || !isSilent(this.#hostPath(path)));
  }

  #look(relativePath: string): Stats | undefined {
    if (this.#rootGone) return undefined;
    try {
      return lstatSync(this.#hostPath(relativePath), { throwIfNoEntry: false });
    } catch (error) {
      // A parent that may not be searched, or a name that this system cannot have: nothing can be said about it.
      if (isForbidden(error) || isMissing(error)) return undefined;
      throw error;
    }
  }

  #hostPath(relativePath: string): string {
    return relativePath === "" ? this.#init.hostPath : `${this.#init.hostPath}/${relativePath}`;
  }

  /** Looks at everything once more. */
  #reconcile(): void {
    if (this.#reconciling || this.#ended) return;
    this.#reconciling = true;
    this.#enqueue({
      kind: "call",
      call: () => {
        this.#reconciling = false;
        this.#rootMayBeGone = true;
        this.#scanSoon(this.#tree.root, true);
      },
    });
  }

  #examineRoot(): void {
    this.#rootMayBeGone = false;
    if (this.#rootGone || this.#ended) return;
    try {
      const stats = statSync(this.#init.hostPath, { throwIfNoEntry: false });
      if (stats && isSame(this.#tree.root, stats)) return;
    } catch (error) {
      if (!isForbidden(error)) throw error;
    }
    this.#rootGone = true;
    if (!this.#live) return;
    void this.#caughtUp().then(() => {
      this.#finish("root gone");
    });
  }

  #settleLater(): void {
    if (this.#settling || this.#ended || !(this.#outbox.hasOpenDepartures || this.#gone.size > 0 || this.#goneBefore.size > 0)) return;
    const until = this.#outbox.position;
    this.#settling = setTimeout(() => {
      // Not before the kernel's queue has been read and looked at: a process that was held up finds its timers due first.
      setImmediate(() => {
        this.#enqueue({
          kind: "call",
          call: () => {
            this.#settling = undefined;
            this.#goneBefore = this.#gone;
            this.#gone = new Set();
            if (!this.#ended) this.#outbox.flush(until);
          },
        });
      });
    }, pairWithinMs);
  }

  #countEntries(): void {
    this.#init.entries.used += this.#tree.size - this.#counted;
    this.#counted = this.#tree.size;
    if (this.#init.entries.used > this.#init.entries.max && !this.#ended) this.#fail(tooManyEntries(this.#init.apiPath, this.#init.entries.max));
  }

  #fail(error: Error): void {
    if (this.#ended) return;
    if (this.#onFailure) {
      this.#onFailure(error);
      return;
    }
    this.#outbox.flush(this.#outbox.position);
    this.#dispose();
    this.#init.onEnd(error);
  }

  #finish(why?: "root gone"): void {
    if (this.#ended) return;
    this.#outbox.flush(this.#outbox.position);
    if (why) this.#outbox.removeAll();
    this.#dispose();
    this.#init.onEnd();
  }

  #dispose(): void {
    this.#ended = true;
    this.#stopListening();
    this.#leaveAncestors?.();
    clearTimeout(this.#settling);
    this.#tree.forget(this.#tree.root);
    this.#init.entries.used -= this.#counted;
    this.#counted = 0;
  }
}

function isSilent(hostPath: string): boolean {
  try {
    return isLinux && silentFilesystems.has(statfsSync(hostPath).type);
  } catch {
    return false;
  }
}

function nextCheckPhase(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
