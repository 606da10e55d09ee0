import type { Page } from "@shoal/contract";
import type { Instance } from "@shoal/placement";
import { serializedJson } from "@shoal/router";
import type { TelemetryEnvelope, ListTelemetryEvents } from "@shoal/schemas";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type * as z from "zod/mini";
import type { Log } from "../log.ts";
import { type Collector, collectEvents } from "./collector.ts";
import { type EventChunk, readChunk } from "./event-files.ts";
import type { ParsePool } from "../parsing/parse-pool.ts";
import { historyQuestion } from "./history.ts";

/** The events of sessions, running and ended, in files of this server. */
export interface TelemetryStore {
  /** Begins to keep the events of a session that runs here. */
  collect(sessionId: string, instance: Instance): Collector;
  /** Some of them from a place on, see `readChunk`. */
  read(sessionId: string, place: number, maxBytes: number): Promise<EventChunk | undefined>;
  /** A page of them, for an answer: its items are `serializedJson`. An empty page where nothing was captured. */
  list(sessionId: string, query: z.output<typeof ListTelemetryEvents>, reader: HistoryReader): Promise<Page<TelemetryEnvelope>>;
  /** Removes events of sessions that have told nothing for the time that events are kept. @returns how many sessions' there were. */
  sweep(nowMs?: number): Promise<number>;
}

/** Who reads a history. */
export interface HistoryReader {
  readonly projectId: string;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
}

export interface TelemetryStoreOptions {
  /** Made when the first event comes. */
  readonly directory: string;
  /** How long events are kept after the session's last one. */
  readonly retentionMs: number;
  readonly parsing: Pick<ParsePool, "run">;
  readonly log: Log;
}

/** Of one session; its oldest events go when there are more. */
const maxSessionBytes = 128 * 2 ** 20;

export function createTelemetryStore({ directory, retentionMs, parsing, log }: TelemetryStoreOptions): TelemetryStore {
  const directoryOf = (sessionId: string) => join(directory, sessionId);
  return {
    collect: (sessionId, instance) => collectEvents({ instance, directory: directoryOf(sessionId), maxBytes: maxSessionBytes, log }),
    read: (sessionId, place, maxBytes) => readChunk(directoryOf(sessionId), place, maxBytes),
    async list(sessionId, query, { projectId, signal }) {
      const question = historyQuestion(directoryOf(sessionId), query);
      const page = await parsing.run("telemetryHistory", question, { owner: projectId, signal });
      return { ...page, items: serializedJson(page.items) };
    },
    async sweep(nowMs = Date.now()) {
      const names = await readdir(directory).catch(() => []);
      let removed = 0;
      for (const name of names) {
        const path = join(directory, name);
        const newest = await newestFileMs(path);
        if (newest === undefined || nowMs - newest <= retentionMs) continue;
        await rm(path, { recursive: true, force: true });
        removed++;
      }
      return removed;
    },
  };
}

/** When a file of a folder was last written, in milliseconds since 1970; `undefined` where there is none. */
async function newestFileMs(path: string): Promise<number | undefined> {
  const names = (await readdir(path).catch(() => [])).sort();
  const last = names.at(-1);
  return (await stat(last === undefined ? path : join(path, last)).catch(() => undefined))?.mtimeMs;
}
