import type { startWatch, stopWatch, watchEvents } from "@shoal/contract";
import { ServiceError, type Handler } from "@shoal/router";
import type { FileSystemEvent } from "@shoal/schemas";
import { randomInt } from "node:crypto";
import { hostPath, normalisePath, topOf, type SessionRoot } from "../paths.ts";
import { AncestorWatches } from "./ancestor-watches.ts";
import { DirectoryWatch } from "./directory-watch.ts";
import { EventLog } from "../../event-log.ts";

/** Bounds of one session's watches. */
export interface WatchLimits {
  /** Watches that are in force at once. */
  readonly watches: number;
  /** Readers of one watch at once. */
  readonly readersPerWatch: number;
  /** Files and directories that all watches together may cover; one takes about 0.4 kB. */
  readonly entries: number;
  /** Events that a watch keeps for its readers. */
  readonly eventsPerWatch: number;
  /** Estimated bytes of events that a watch keeps. */
  readonly bytesPerWatch: number;
  /** Estimated bytes of events that all watches together keep; each keeps its last 16 events in any case. */
  readonly bytesPerSession: number;
  /** Watches kept for further readers although their directory is gone; the one that ended first goes first. */
  readonly endedWatches: number;
  /** How long such a watch is kept after a reader has reached its end, for those whose connection broke shortly before. */
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

/** Handlers of `browsers.fs.watch`. */
export interface WatchHandlers {
  /** Answers once the watch is in force. */
  readonly startWatch: Handler<typeof startWatch, unknown>;
  /**
   * Begins with the oldest event that is kept, or after `Last-Event-ID`: an id of this watch, or `0`; anything else is a 400. Ends when the watch is stopped or
   * its directory is gone, which is the last event; a directory of the same name made later is not watched.
   */
  readonly watchEvents: Handler<typeof watchEvents, unknown>;
  readonly stopWatch: Handler<typeof stopWatch, unknown>;
  /** Ends all watches and their readers. */
  close(): Promise<void>;
}

interface Watch {
  readonly path: string;
  readonly log: EventLog<FileSystemEvent>;
  /** Absent once the watch has ended by itself. */
  source: DirectoryWatch | undefined;
  /** Removes a watch that has ended. */
  expiry: NodeJS.Timeout | undefined;
}

/** The watches of one session. */
export function watchHandlers(root: SessionRoot, limits: WatchLimits = defaultWatchLimits): WatchHandlers {
  const watches = new Map<string, Watch>();
  const ended = new Set<string>();
  const entries = { used: 0, max: limits.entries };
  const shared = { bytes: 0, maxBytes: limits.bytesPerSession };
  let ancestors: AncestorWatches | undefined;
  let starting = 0;
  let closed = false;

  function find(id: string): Watch {
    const found = watches.get(id);
    if (!found)
      throw new ServiceError(
        404,
        "not_found",
        `Watch ${id} was not found. It may have been stopped, or its directory is gone; start another with browsers.fs.watch.start().`,
      );
    return found;
  }

  function remove(id: string): void {
    const watch = watches.get(id);
    watches.delete(id);
    ended.delete(id);
    clearTimeout(watch?.expiry);
    watch?.log.release();
  }

  function onEnd(id: string, watch: Watch, failure?: Error): void {
    watch.source = undefined;
    watch.log.close(failure);
    if (!watches.has(id)) {
      // It was stopped, or did not even start.
      watch.log.release();
      return;
    }
    ended.add(id);
    for (const oldest of ended) {
      if (ended.size <= limits.endedWatches) break;
      remove(oldest);
    }
  }

  function onLeave(id: string): void {
    const watch = watches.get(id);
    if (!watch?.log.closed || watch.log.readers > 0) return;
    watch.expiry ??= setTimeout(remove, limits.keepReadMs, id).unref();
  }

  async function start(path: string, recursive: boolean, signal: AbortSignal): Promise<string> {
    if (closed) throw shuttingDown();
    if (watches.size - ended.size + starting >= limits.watches) {
      throw new ServiceError(
        429,
        "too_many_watches",
        `The session has ${limits.watches} watches, the most it can have. Stop one with browsers.fs.watch.stop(), or watch a directory above with "recursive".`,
      );
    }
    const id = makeId();
    const apiPath = normalisePath(path, "body.path");
    const log = new EventLog<FileSystemEvent>({ events: limits.eventsPerWatch, bytes: limits.bytesPerWatch, shared }, () => {
      onLeave(id);
    });
    const watch: Watch = { path: apiPath, log, source: undefined, expiry: undefined };
    starting++;
    try {
      let hasEnded = false;
      const directory = await hostPath(root, apiPath, { follow: true, action: "watch" });
      ancestors ??= new AncestorWatches(await topOf(root));
      const source = await DirectoryWatch.start({
        hostPath: directory,
        apiPath,
        recursive,
        ancestors,
        entries,
        onEvent: (event) => {
          log.push(event, sizeOf(event));
        },
        onEnd: (failure) => {
          hasEnded = true;
          onEnd(id, watch, failure);
        },
      });
      if (isTrue(closed) || signal.aborted) {
        // Nobody is left who could stop it.
        await source.stop();
        throw shuttingDown();
      }
      watches.set(id, watch);
      if (isTrue(hasEnded)) ended.add(id);
      else watch.source = source;
    } finally {
      starting--;
    }
    return id;
  }

  return {
    startWatch: async ({ body, signal }) => ({ watch_id: await start(body.path, body.recursive, signal) }),
    watchEvents: ({ params, lastEventId }) => {
      const { log, path } = find(params.watch_id);
      const after = positionOf(lastEventId, log.lastId);
      if (log.failure && after === log.lastId) throw log.failure;
      if (log.readers >= limits.readersPerWatch) {
        throw new ServiceError(
          429,
          "too_many_requests",
          `The watch of ${path} has ${limits.readersPerWatch} readers, the most it can have. Close one of their connections.`,
        );
      }
      return log.read(after);
    },
    stopWatch: async ({ params }) => {
      const watch = find(params.watch_id);
      remove(params.watch_id);
      await watch.source?.stop();
    },
    close: async () => {
      closed = true;
      const all = [...watches];
      for (const [id] of all) remove(id);
      await Promise.all(all.map(async ([, watch]) => watch.source?.stop()));
    },
  };
}

function shuttingDown(): ServiceError {
  return new ServiceError(503, "shutting_down", "The session is ending; nothing can be watched in it any more.");
}

/** As a function, for the compiler takes what it saw before an `await` for what holds after it. */
function isTrue(value: boolean): boolean {
  return value;
}

function positionOf(lastEventId: string | undefined, lastId: number): number {
  if (lastEventId === undefined || lastEventId === "") return 0;
  const position = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
  if (position === undefined || position > lastId) {
    throw new ServiceError(
      400,
      "bad_request",
      `Last-Event-ID is not an id of this watch (the latest is ${lastId}). Send the id of an event that this watch sent, or leave the header out to get what is kept.`,
    );
  }
  return position;
}

/** An object with its fields, and strings of two bytes a character. */
function sizeOf(event: FileSystemEvent): number {
  return 160 + 2 * (event.path.length + (event.name?.length ?? 0) + (event.dest_path?.length ?? 0));
}

const letters = "abcdefghijklmnopqrstuvwxyz";
const lettersAndDigits = `${letters}0123456789`;

/** A letter and 23 letters or digits. */
function makeId(): string {
  let id = letters.charAt(randomInt(letters.length));
  while (id.length < 24) id += lettersAndDigits.charAt(randomInt(lettersAndDigits.length));
  return id;
}
