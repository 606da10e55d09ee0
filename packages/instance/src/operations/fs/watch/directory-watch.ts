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

/** Time that a departure waits for its arrival. The kernel reports both together. */
const pairWithinMs = 20;
/** A scan repairs each error of a system watcher; after this many, the watch ends. */
const maxWatcherErrors = 100;
/** With a path of /name/. the kernel reports the directory's own events under `.`, which no child can have. */
const isLinux = process.platform === "linux";
const selfSuffix = Buffer.from("/.");

export interface DirectoryWatchInit {
  readonly hostPath: string;
  /** Without a trailing slash. */
  readonly apiPath: string;
  readonly recursive: boolean;
  readonly ancestors: AncestorWatches;
  readonly entries: { used: number; readonly max: number };
  readonly onEvent: (event: FileSystemEvent) => void;
  /** The last call: the directory is gone, or the watch failed. */
  readonly onEnd: (failure?: Error) => void;
}

type Job =
  | { readonly kind: "check"; readonly check: PendingCheck }
  | { readonly kind: "scan"; readonly directory: KnownEntry }
  | { readonly kind: "call"; readonly call: () => void };

/**
 * One `fs.watch` per directory. System events are only hints: each queues a check of one name against the reported
 * state, so late, repeated and redundant events do no harm, and a scan repairs dropped ones. Unreadable directories and
 * paths above the system's limit are skipped until they become accessible. Checks are synchronous and in slices: they
 * take microseconds each, keep the kernel's order of events, and cannot race.
 */
export class DirectoryWatch {
  readonly #init: DirectoryWatchInit;
  readonly #top: string;
  readonly #tree: KnownTree;
  readonly #outbox: Outbox;
  readonly #comparison: Comparison;
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

  /** Resolves when the watch is active. Does not report existing files. */
  static async start(init: DirectoryWatchInit): Promise<DirectoryWatch> {
    let stats: Stats;
    try {
      stats = statSync(init.hostPath);
    } catch (error) {
      throw watchError(error, init.apiPath);
    }
    if (!stats.isDirectory())
      throw watchError(Object.assign(new Error("not a directory"), { code: "ENOTDIR" }), init.apiPath);
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

  /** Ends the watch after reporting all changes until now. */
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
      // The watched inode was moved or deleted, and its path may have been reused.
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
        if (pending?.get(check.name) !== check) return;
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

  /** Renews the watcher of a directory and queues checks of its present and former entries. */
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
      // Before the listing, and before the old watcher is closed, so that no event is missed.
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
      // The watched path itself may be a link; links below are not followed.
      const stats = (directory === this.#tree.root ? statSync : lstatSync)(place, { throwIfNoEntry: false });
      if (!(stats && isSame(directory, stats))) {
        // Another file, such as a link, has replaced it.
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
      // Only after the kernel's queue was read: after a delay, timers run before pending events.
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
    if (this.#init.entries.used > this.#init.entries.max && !this.#ended)
      this.#fail(tooManyEntries(this.#init.apiPath, this.#init.entries.max));
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
