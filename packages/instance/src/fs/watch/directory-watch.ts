import type { FileSystemEvent } from "@shoal/schemas";
import { lstatSync, readdirSync, statSync, watch, type Stats } from "node:fs";
import { basename } from "node:path";
import { temporaryNamePattern } from "../temporary.ts";
import type { AncestorWatches } from "./ancestor-watches.ts";
import { byteName, bytesOf } from "./byte-names.ts";
import { Comparison } from "./comparison.ts";
import { noteSystemEvent, onPossibleLoss } from "./event-queue-pressure.ts";
import { entryOf, isSame, KnownTree, type KnownEntry, type PendingCheck } from "./known-tree.ts";
import { Outbox } from "./outbox.ts";
import { isSilent } from "./silent-filesystems.ts";
import { Slices, systemEventsRead } from "./slices.ts";
import { isForbidden, isMissing, isOutOfReach, silentFilesystem, tooManyEntries, watchError } from "./watch-errors.ts";

/** How long a departure may wait for the arrival that makes it a move. The kernel reports both in one breath. */
const pairWithinMs = 20;
/** After so many errors of the system's watchers, each of which was made up for by a scan, a watch is given up. */
const maxWatcherErrors = 100;
/** A path of /name/. makes the kernel's notes about the directory itself arrive under the name `.`, which no child can have. */
const isLinux = process.platform === "linux";
const selfSuffix = Buffer.from("/.");

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

/**
 * Watches a directory through one `fs.watch` for each directory. What the system says is only taken as a hint where to look: each hint queues a
 * look at one name, and what is found is compared with what was last reported. So events that come late, twice, or for files that were
 * found by a scan already do no harm, and where the kernel dropped some a scan makes up for them.
 *
 * What lies in directories that may not be read, or below paths longer than the system takes, is passed over until it can be looked at.
 *
 * Looking is synchronous, in slices: a few microseconds for each file, in the order of the kernel's events, with nothing to race against.
 */
export class DirectoryWatch {
  readonly #init: DirectoryWatchInit;
  /** {@link byteName} of the directory in this process's filesystem. */
  readonly #top: string;
  readonly #tree: KnownTree;
  readonly #outbox: Outbox;
  readonly #comparison: Comparison;
  /** In the order of the system's events. */
  readonly #jobs: Slices<Job>;
  #ended = false;
  #rootGone = false;
  #rootMayBeGone = false;
  #reconciling = false;
  #settling: NodeJS.Timeout | undefined;
  #counted = 0;
  #watcherErrors = 0;
  readonly #stopListening: () => void;
  #leaveAncestors: (() => void) | undefined;
  #onFailure: ((error: Error) => void) | undefined;

  private constructor(init: DirectoryWatchInit, root: KnownEntry) {
    this.#init = init;
    this.#top = byteName(init.hostPath);
    this.#tree = new KnownTree(root);
    this.#outbox = new Outbox(this.#tree, init.apiPath, init.onEvent);
    this.#comparison = new Comparison({
      tree: this.#tree,
      outbox: this.#outbox,
      look: (relativePath) => this.#look(relativePath),
      onMissing: () => {
        this.#rootMayBeGone = true;
      },
      onDirectory: (directory, deep) => {
        if (this.#mayDescend(directory)) this.#scanSoon(directory, deep);
      },
    });
    this.#jobs = new Slices(this.#run, this.#afterSlice);
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
    const root = entryOf(byteName(basename(init.apiPath)), stats);
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
      this.#jobs.wake();
    });
    const failed = new Promise<never>((_resolve, reject) => {
      this.#onFailure = reject;
    });
    this.#scanSoon(this.#tree.root, false);
    await Promise.race([this.#caughtUp(), failed]);
    this.#onFailure = undefined;
    if (this.#rootGone) throw Object.assign(new Error("gone"), { code: "ENOENT" });
    this.#comparison.live = true;
  }

  /** Resolves when everything that had happened by now has been looked at. */
  async #caughtUp(): Promise<void> {
    await systemEventsRead();
    await new Promise<void>((resolve) => {
      this.#jobs.push({ kind: "call", call: resolve });
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
    if (temporaryNamePattern.test(name)) return;
    const pending = directory.directory?.pending;
    let check = pending?.get(name);
    const isNew = check === undefined;
    check ??= { directory, name, renamed: false, changed: false, deep: false };
    pending?.set(name, check);
    if (why === "listed" || why === "deep") this.#jobs.pushFollowUp({ kind: "check", check });
    else if (isNew) this.#jobs.push({ kind: "check", check });
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
    if (!queued) this.#jobs.pushFollowUp({ kind: "scan", directory });
  }

  readonly #run = (job: Job): void => {
    try {
      if (job.kind === "call") job.call();
      else if (this.#ended) return;
      else if (job.kind === "scan") this.#scan(job.directory);
      else {
        const { check } = job;
        const pending = check.directory.directory?.pending;
        if (pending?.get(check.name) !== check) return; // Done already.
        pending.delete(check.name);
        this.#comparison.check(check);
      }
    } catch (error) {
      this.#fail(watchError(error, this.#init.apiPath));
    }
  };

  readonly #afterSlice = (): void => {
    if (this.#rootMayBeGone) this.#examineRoot();
    this.#countEntries();
    this.#outbox.send();
    this.#settleLater();
  };

  /** Watches a directory anew and queues a look at everything that is, or was, in it. */
  #scan(directory: KnownEntry): void {
    const state = directory.directory;
    if (!state) return;
    const why = state.queuedScan === "deep" ? "deep" : "listed";
    state.queuedScan = undefined;
    const relativePath = this.#tree.relativePath(directory);
    if (relativePath === undefined || this.#rootGone) return;
    const place = this.#placeOf(relativePath);
    let names: readonly Buffer[];
    const former = state.watcher;
    try {
      // Before the listing, so that nothing falls between; and before the former is closed, for the same reason.
      const watched = isLinux ? Buffer.concat([place, selfSuffix]) : place;
      const watcher = watch(watched, { encoding: "buffer", persistent: false }, (kind, name) => {
        this.#onSystemEvent(directory, kind, name === null ? null : name.toString("latin1"));
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
      names = readdirSync(place, { encoding: "buffer" });
      // The watched path itself may be a link; below it links are not followed.
      const stats = (directory === this.#tree.root ? statSync : lstatSync)(place, { throwIfNoEntry: false });
      if (!(stats && isSame(directory, stats))) {
        // Something else, a link perhaps, came into its place meanwhile.
        this.#checkAgain(directory);
        return;
      }
    } catch (error) {
      if (isMissing(error)) this.#checkAgain(directory);
      else if (!isOutOfReach(error) || directory === this.#tree.root) throw error;
      return;
    }
    for (const name of names) this.#checkSoon(directory, name.toString("latin1"), why);
    if (state.children.size > 0) for (const name of state.children.keys()) this.#checkSoon(directory, name, why);
  }

  #checkAgain(directory: KnownEntry): void {
    if (directory === this.#tree.root) this.#rootMayBeGone = true;
    else if (directory.parent) this.#checkSoon(directory.parent, directory.name, "deep");
  }

  #mayDescend(directory: KnownEntry): boolean {
    if (!this.#init.recursive) return false;
    if (directory.dev === directory.parent?.dev) return true;
    const path = this.#tree.relativePath(directory);
    return path !== undefined && !isSilent(this.#placeOf(path));
  }

  #look(relativePath: string): Stats | "hidden" | undefined {
    if (this.#rootGone) return undefined;
    try {
      return lstatSync(this.#placeOf(relativePath), { throwIfNoEntry: false });
    } catch (error) {
      if (isOutOfReach(error)) return "hidden";
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  #placeOf(relativePath: string): Buffer {
    return bytesOf(relativePath === "" ? this.#top : `${this.#top}/${relativePath}`);
  }

  /** Looks at everything once more. */
  #reconcile(): void {
    if (this.#reconciling || this.#ended) return;
    this.#reconciling = true;
    this.#jobs.push({
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
      if (!isForbidden(error)) {
        this.#fail(watchError(error, this.#init.apiPath));
        return;
      }
    }
    this.#rootGone = true;
    if (!this.#comparison.live) return;
    void this.#caughtUp().then(() => {
      this.#finish("root gone");
    });
  }

  #settleLater(): void {
    if (this.#settling || this.#ended || !(this.#outbox.hasOpenDepartures || this.#comparison.remembersGone)) return;
    const until = this.#outbox.position;
    this.#settling = setTimeout(() => {
      // Not before the kernel's queue has been read and looked at: a process that was held up finds its timers due first.
      setImmediate(() => {
        this.#jobs.push({
          kind: "call",
          call: () => {
            this.#settling = undefined;
            this.#comparison.forgetGone();
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
