import { foreignEventId, tooManyWatches, watchNotFound } from "@shoal/contract/refusals";
import type { startWatch, stopWatch, watchEvents } from "@shoal/contract";
import { ServiceError, type Handler } from "@shoal/router";
import type { FileSystemEvent } from "@shoal/schemas";
import { randomInt } from "node:crypto";
import { hostPath, normalisePath, topOf, type SessionRoot } from "../paths.ts";
import { AncestorWatches } from "./ancestor-watches.ts";
import { DirectoryWatch } from "./directory-watch.ts";
import { EventLog } from "../../../http/event-log.ts";

export interface WatchLimits {
  readonly watches: number;
  readonly readersPerWatch: number;
  /** Files and directories of all watches together; each takes about 0.4 kB. */
  readonly entries: number;
  readonly eventsPerWatch: number;
  readonly bytesPerWatch: number;
  /** Estimated, for all watches together. Each watch keeps at least 16 events. */
  readonly bytesPerSession: number;
  /** Ended watches kept for further readers; the first to end is dropped first. */
  readonly endedWatches: number;
  /** Time to keep an ended watch after a reader reached its end, for readers that reconnect. */
  readonly keepReadMs: number;
}

export const defaultWatchLimits: WatchLimits = {
  watches: 10_000,
  readersPerWatch: 100,
  entries: 500_000,
  eventsPerWatch: 100_000,
  bytesPerWatch: 32 * 1024 * 1024,
  bytesPerSession: 128 * 1024 * 1024,
  endedWatches: 100,
  keepReadMs: 60_000,
};

export interface WatchHandlers {
  readonly startWatch: Handler<typeof startWatch, unknown>;
  /** Starts at the oldest kept event, or after `Last-Event-ID`. A new directory of the same name is not watched. */
  readonly watchEvents: Handler<typeof watchEvents, unknown>;
  readonly stopWatch: Handler<typeof stopWatch, unknown>;
  close(): Promise<void>;
}

interface Watch {
  readonly path: string;
  readonly log: EventLog<FileSystemEvent>;
  /** Absent after the watch has ended. */
  source: DirectoryWatch | undefined;
  expiry: NodeJS.Timeout | undefined;
}

export function watchHandlers(root: SessionRoot, limits: WatchLimits = defaultWatchLimits): WatchHandlers {
  const watches = new SessionWatches(root, limits);
  return {
    startWatch: async ({ body, signal }) => ({ watch_id: await watches.start(body.path, body.recursive, signal) }),
    watchEvents: ({ params, lastEventId }) => watches.read(params.watch_id, lastEventId),
    stopWatch: ({ params }) => watches.stop(params.watch_id),
    close: () => watches.close(),
  };
}

class SessionWatches {
  readonly #root: SessionRoot;
  readonly #limits: WatchLimits;
  readonly #watches = new Map<string, Watch>();
  /** Ids of ended watches, the first to end first. */
  readonly #ended = new Set<string>();
  readonly #entries: { used: number; readonly max: number };
  readonly #shared: { bytes: number; readonly maxBytes: number };
  readonly #closing = new AbortController();
  #ancestors: AncestorWatches | undefined;
  #starting = 0;

  constructor(root: SessionRoot, limits: WatchLimits) {
    this.#root = root;
    this.#limits = limits;
    this.#entries = { used: 0, max: limits.entries };
    this.#shared = { bytes: 0, maxBytes: limits.bytesPerSession };
  }

  async start(path: string, recursive: boolean, signal: AbortSignal): Promise<string> {
    this.#checkRoom();
    const id = makeId();
    const apiPath = normalisePath(path, "body.path");
    const { eventsPerWatch, bytesPerWatch } = this.#limits;
    const log = new EventLog<FileSystemEvent>(
      { events: eventsPerWatch, bytes: bytesPerWatch, shared: this.#shared },
      () => {
        this.#readerLeft(id);
      },
    );
    const watch: Watch = { path: apiPath, log, source: undefined, expiry: undefined };
    this.#starting++;
    try {
      const { source, end } = await this.#open(id, watch, recursive);
      if (this.#closing.signal.aborted || signal.aborted) {
        // No client is left to stop it.
        await source.stop();
        throw shuttingDown();
      }
      this.#watches.set(id, watch);
      if (end.came) this.#ended.add(id);
      else watch.source = source;
    } finally {
      this.#starting--;
    }
    return id;
  }

  read(id: string, lastEventId: string | undefined): ReturnType<EventLog<FileSystemEvent>["read"]> {
    const { log, path } = this.#find(id);
    const after = positionOf(lastEventId, log.lastId);
    if (log.failure && after === log.lastId) throw log.failure;
    const { readersPerWatch } = this.#limits;
    if (log.readers >= readersPerWatch) {
      throw new ServiceError(
        429,
        "too_many_requests",
        `The watch of ${path} has ${readersPerWatch} readers, the limit.`,
        { limit: readersPerWatch, hint: "Close one of their connections." },
      );
    }
    return log.read(after);
  }

  async stop(id: string): Promise<void> {
    const watch = this.#find(id);
    this.#remove(id);
    await watch.source?.stop();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const all = [...this.#watches];
    for (const [id] of all) this.#remove(id);
    await Promise.all(all.map(async ([, watch]) => watch.source?.stop()));
  }

  #checkRoom(): void {
    if (this.#closing.signal.aborted) throw shuttingDown();
    const { watches } = this.#limits;
    if (this.#watches.size - this.#ended.size + this.#starting >= watches)
      throw ServiceError.of(tooManyWatches(watches));
  }

  async #open(
    id: string,
    watch: Watch,
    recursive: boolean,
  ): Promise<{ readonly source: DirectoryWatch; readonly end: { readonly came: boolean } }> {
    const directory = await hostPath(this.#root, watch.path, { follow: true, action: "watch" });
    this.#ancestors ??= new AncestorWatches(await topOf(this.#root));
    const end = { came: false };
    const source = await DirectoryWatch.start({
      hostPath: directory,
      apiPath: watch.path,
      recursive,
      ancestors: this.#ancestors,
      entries: this.#entries,
      onEvent: (event) => {
        watch.log.push(event, sizeOf(event));
      },
      onEnd: (failure) => {
        end.came = true;
        this.#sourceEnded(id, watch, failure);
      },
    });
    return { source, end };
  }

  #sourceEnded(id: string, watch: Watch, failure?: Error): void {
    watch.source = undefined;
    watch.log.close(failure);
    if (!this.#watches.has(id)) {
      // The watch was stopped, or did not start.
      watch.log.release();
      return;
    }
    this.#ended.add(id);
    for (const oldest of this.#ended) {
      if (this.#ended.size <= this.#limits.endedWatches) break;
      this.#remove(oldest);
    }
  }

  #readerLeft(id: string): void {
    const watch = this.#watches.get(id);
    if (!watch?.log.closed || watch.log.readers > 0) return;
    watch.expiry ??= setTimeout(() => {
      this.#remove(id);
    }, this.#limits.keepReadMs).unref();
  }

  #find(id: string): Watch {
    const found = this.#watches.get(id);
    if (!found) throw ServiceError.of(watchNotFound(id));
    return found;
  }

  #remove(id: string): void {
    const watch = this.#watches.get(id);
    this.#watches.delete(id);
    this.#ended.delete(id);
    clearTimeout(watch?.expiry);
    watch?.log.release();
  }
}

function shuttingDown(): ServiceError {
  return new ServiceError(503, "shutting_down", "The session is ending; nothing can be watched in it any more.");
}

function positionOf(lastEventId: string | undefined, lastId: number): number {
  if (lastEventId === undefined || lastEventId === "") return 0;
  const position = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
  if (position === undefined || position > lastId) throw ServiceError.of(foreignEventId("this watch", lastId));
  return position;
}

function sizeOf(event: FileSystemEvent): number {
  return 160 + 2 * (event.path.length + (event.name?.length ?? 0) + (event.dest_path?.length ?? 0));
}

const letters = "abcdefghijklmnopqrstuvwxyz";
const lettersAndDigits = `${letters}0123456789`;

function makeId(): string {
  let id = letters.charAt(randomInt(letters.length));
  while (id.length < 24) id += lettersAndDigits.charAt(randomInt(lettersAndDigits.length));
  return id;
}
