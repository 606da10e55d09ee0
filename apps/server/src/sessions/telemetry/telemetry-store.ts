import type { Page } from "@shoal/contract";
import type { Instance } from "@shoal/placement";
import { serializedJson } from "@shoal/router";
import type { TelemetryEnvelope, ListTelemetryEvents } from "@shoal/schemas";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type * as z from "zod/mini";
import type { Log } from "../../log/log.ts";
import { type Collector, collectEvents } from "./collector.ts";
import { endOf, type EventChunk, readChunk } from "../../storage/telemetry-files/event-files.ts";
import type { SessionRef } from "../../storage/session-files/session-files.ts";
import type { StoredTelemetry } from "./stored-telemetry.ts";
import type { ParsePool } from "../../storage/parsing/parse-pool.ts";
import { type HistoryPage, type HistoryQuestion, historyQuestion } from "../../storage/telemetry-files/history.ts";

export interface TelemetryStore {
  collect(sessionId: string, instance: Instance): Collector;
  read(sessionId: string, place: number, maxBytes: number): Promise<EventChunk | undefined>;
  /**
   * Returns items as `serializedJson`; empty when nothing was captured. Of a session that is ending here, waits for the
   * last events.
   */
  list(
    sessionId: string,
    query: z.output<typeof ListTelemetryEvents>,
    reader: HistoryReader,
  ): Promise<Page<TelemetryEnvelope>>;
  /** A JPEG file; `undefined` without one. Of a session that is ending here, waits for the last events. */
  lastPicture(sessionId: string, reader: HistoryReader): Promise<Buffer | undefined>;
  /** All events, oldest first, in chunks of JSON lines. Of a session that is ending here, waits for the last events. */
  lines(sessionId: string, wanted: WantedEvents, reader: HistoryReader): AsyncGenerator<Uint8Array<ArrayBuffer>>;
  /** Where the events end that are stored now, for {@link WantedEvents.end}; `undefined` if none are stored here. Waits as `lines`. */
  end(sessionId: string): Promise<number | undefined>;
  localSessions(): Promise<readonly string[]>;
  hasLocal(session: SessionRef): Promise<boolean>;
  /** Uploads the events of an ended session to the store, and removes them here. */
  store(session: SessionRef, isOver: boolean, signal: AbortSignal): Promise<void>;
  /** Deletes events of sessions without new events during the retention time. @returns the number of sessions. */
  sweep(nowMs?: number): Promise<number>;
}

export interface WantedEvents extends Pick<HistoryQuestion, "categories" | "end" | "types"> {
  /** Of a chunk. */
  readonly limit: number;
}

export interface HistoryReader {
  readonly projectId: string;
  readonly signal: AbortSignal;
}

export interface TelemetryStoreOptions {
  readonly directory: string;
  readonly retentionMs: number;
  readonly parsing: Pick<ParsePool, "run">;
  /** Events in the store; absent: all remain in the directory. */
  readonly stored?: StoredTelemetry;
  readonly log: Log;
}

/** Per session; above it, the oldest events are deleted. */
const maxSessionBytes = 128 * 2 ** 20;

export function createTelemetryStore(options: TelemetryStoreOptions): TelemetryStore {
  const { directory, log, parsing, retentionMs, stored } = options;
  const directoryOf = (sessionId: string) => join(directory, sessionId);
  const ending = new Map<string, Promise<void>>();
  /** Sessions whose collector still writes: it keeps its file open. */
  const collected = new Set<string>();
  /** Sessions whose stored events are being removed here. */
  const moving = new Set<string>();
  async function ask(
    kind: "lastPicture" | "telemetryHistory",
    { question, sessionId }: { readonly question: HistoryQuestion; readonly sessionId: string },
    { projectId, signal }: HistoryReader,
  ): Promise<HistoryPage> {
    const answer = (asked: HistoryQuestion) => parsing.run(kind, asked, { owner: projectId, signal });
    const local = await answer(question);
    // The directory may have moved to the store meanwhile.
    const isElsewhere = moving.has(sessionId) || (await isMissing(question.directory));
    return isElsewhere ? ((await stored?.page(sessionId, question, answer)) ?? local) : local;
  }
  return {
    collect(sessionId, instance) {
      const collector = collectEvents({ instance, directory: directoryOf(sessionId), maxBytes: maxSessionBytes, log });
      collected.add(sessionId);
      void collector.done.finally(() => collected.delete(sessionId));
      return {
        ...collector,
        finish() {
          const finished = collector.finish().finally(() => ending.delete(sessionId));
          ending.set(sessionId, finished);
          return finished;
        },
      };
    },
    read: (sessionId, place, maxBytes) => readChunk(directoryOf(sessionId), place, maxBytes),
    async list(sessionId, query, reader) {
      await ending.get(sessionId);
      const question = historyQuestion(directoryOf(sessionId), query);
      const page = await ask("telemetryHistory", { question, sessionId }, reader);
      return { ...page, items: serializedJson(page.items) };
    },
    async lastPicture(sessionId, reader) {
      await ending.get(sessionId);
      const question = historyQuestion(directoryOf(sessionId), { order: "desc", limit: 1 });
      const { items } = await ask("lastPicture", { question, sessionId }, reader);
      return items.length === 0 ? undefined : Buffer.from(items);
    },
    async *lines(sessionId, wanted, reader) {
      await ending.get(sessionId);
      let offset: number | undefined;
      for (let hasMore = true; hasMore;) {
        const from = { directory: directoryOf(sessionId), order: "asc", since: 0, until: Infinity, offset } as const;
        const question = { ...wanted, ...from, asLines: true } as const;
        const page = await ask("telemetryHistory", { question, sessionId }, reader);
        if (page.items.length > 0) yield page.items;
        hasMore = page.hasMore;
        offset = page.nextOffset;
      }
    },
    async end(sessionId) {
      await ending.get(sessionId);
      return endOf(directoryOf(sessionId));
    },
    localSessions: () => readdir(directory).catch(() => []),
    hasLocal: async ({ sessionId }) => !(await isMissing(directoryOf(sessionId))),
    async store(session, isOver, signal) {
      const path = directoryOf(session.sessionId);
      if (stored === undefined || !isOver || (await isMissing(path))) return;
      await stored.upload(session, path, signal);
      moving.add(session.sessionId);
      try {
        await rm(path, { recursive: true, force: true });
      } finally {
        moving.delete(session.sessionId);
      }
    },
    sweep: (nowMs = Date.now()) => removeOlder(directory, nowMs - retentionMs, collected),
  };
}

/** @param kept - stay at any age. @returns the number of removed folders. */
async function removeOlder(directory: string, beforeMs: number, kept: ReadonlySet<string>): Promise<number> {
  let removed = 0;
  for (const name of await readdir(directory).catch(() => [])) {
    if (kept.has(name)) continue;
    const path = join(directory, name);
    const newest = await newestFileMs(path);
    if (newest === undefined || newest >= beforeMs) continue;
    await rm(path, { recursive: true, force: true });
    removed++;
  }
  return removed;
}

async function isMissing(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) === undefined;
}

/** In milliseconds since 1970; `undefined` = no files. */
async function newestFileMs(path: string): Promise<number | undefined> {
  const names = (await readdir(path).catch(() => [])).sort();
  const last = names.at(-1);
  return (await stat(last === undefined ? path : join(path, last)).catch(() => undefined))?.mtimeMs;
}
