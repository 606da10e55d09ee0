import { type Database, outageOf } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { sql } from "kysely";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../../log/log.ts";
import type { LogLine } from "../runtime/app-runtime.ts";
import { encodeLine } from "./chunk.ts";

export interface LogLimits {
  /** Stored bytes of one writer. */
  readonly maxBytes: number;
  /** Bytes that wait for the database. */
  readonly maxWaitingBytes: number;
  /** Milliseconds that {@link LogWriter.end} waits for a database that does not answer. */
  readonly endMs: number;
}

const usual: LogLimits = { maxBytes: 32 * 2 ** 20, maxWaitingBytes: 4 * 2 ** 20, endMs: 30_000 };
const chunkBytes = 128 * 1024;
/** Lines that arrive together become one row. */
const gatherMs = 25;
const retryMs = 500;
const lockSpace = 1936223074;

/** Held until the end of a transaction by each that writes or deletes lines of a deployment. */
export const lockOfWriters = (deploymentId: string) =>
  sql`pg_advisory_xact_lock(${sql.lit(lockSpace)}, hashtext(${deploymentId}))`;

export interface ChunkWriterParts {
  readonly query: Database["query"];
  readonly owner: { readonly deployment_id: string; readonly invocation_id?: string };
  readonly limits: Partial<LogLimits>;
  /** Called after each chunk. */
  readonly onStored: (bytes: number) => Promise<void>;
  readonly log: Log;
}

interface Waiting {
  readonly text: string;
  readonly bytes: number;
  readonly at: Date;
}

export class LogWriter {
  readonly #query: Database["query"];
  readonly #owner: ChunkWriterParts["owner"];
  readonly #limits: LogLimits;
  readonly #log: Log;
  readonly #onStored: ChunkWriterParts["onStored"];
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #acceptedBytes = 0;
  #dropped = 0;
  #lastAt = new Date(0);
  #writing: Promise<void> | undefined;
  #ending: Promise<void> | undefined;
  #deadlineMs = Infinity;

  constructor({ query, owner, limits, onStored, log }: ChunkWriterParts) {
    this.#query = query;
    this.#owner = owner;
    this.#limits = { ...usual, ...limits };
    this.#log = log;
    this.#onStored = onStored;
  }

  /** Never blocks. Drops lines above a limit; a line in their place says how many. */
  line(line: LogLine): void {
    if (this.#ending !== undefined) return;
    this.#lastAt = line.at;
    if (!this.#hasRoom()) {
      this.#dropped += 1;
      return;
    }
    this.#noteDropped();
    this.#add(line);
  }

  /** Resolves when all lines are stored, or cannot be stored. Later lines are ignored. */
  end(): Promise<void> {
    return (this.#ending ??= this.#end());
  }

  async #end(): Promise<void> {
    this.#noteDropped();
    this.#deadlineMs = performance.now() + this.#limits.endMs;
    await this.#writing;
  }

  #hasRoom(): boolean {
    const { maxBytes, maxWaitingBytes } = this.#limits;
    if (this.#acceptedBytes >= maxBytes) return false;
    // After dropping, waits until half of the buffer is free, so that drops come in few groups.
    return this.#waitingBytes < (this.#dropped === 0 ? maxWaitingBytes : maxWaitingBytes / 2);
  }

  #noteDropped(): void {
    if (this.#dropped === 0) return;
    const limit =
      this.#acceptedBytes >= this.#limits.maxBytes
        ? `the log is limited to ${String(Math.round(this.#limits.maxBytes / 2 ** 20))} MiB`
        : "they arrived faster than they could be stored";
    const text = `[shoal] ${String(this.#dropped)} lines were dropped: ${limit}.`;
    this.#dropped = 0;
    this.#add({ source: "stderr", text, at: this.#lastAt });
  }

  #add(line: LogLine): void {
    const text = encodeLine(line);
    const bytes = Buffer.byteLength(text) + 1;
    this.#waiting.push({ text, bytes, at: line.at });
    this.#waitingBytes += bytes;
    this.#acceptedBytes += bytes;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  async #write(): Promise<void> {
    await delay(gatherMs);
    for (let chunk = this.#take(); chunk.length > 0; chunk = this.#take()) {
      await this.#store(chunk);
      this.#waitingBytes -= chunk.reduce((sum, { bytes }) => sum + bytes, 0);
    }
  }

  #take(): Waiting[] {
    let count = 0;
    for (let bytes = 0; count < this.#waiting.length; count += 1) {
      bytes += this.#waiting[count]?.bytes ?? 0;
      if (count > 0 && bytes > chunkBytes) break;
    }
    return this.#waiting.splice(0, count);
  }

  async #store(chunk: readonly Waiting[]): Promise<void> {
    const id = createId();
    for (;;) {
      try {
        await this.#insert(id, chunk);
        break;
      } catch (error) {
        if (outageOf(error) === undefined || performance.now() > this.#deadlineMs) {
          this.#log.warn({ ...this.#owner, lines: chunk.length, err: error }, "log lines of an app were lost");
          return;
        }
        await delay(retryMs);
      }
    }
    await this.#onStored(chunk.reduce((sum, { bytes }) => sum + bytes, 0)).catch((error: unknown) => {
      this.#log.warn({ ...this.#owner, err: error }, "old log lines of a project could not be deleted");
    });
  }

  /** A retry with the same id stores nothing twice. */
  async #insert(id: string, chunk: readonly Waiting[]): Promise<void> {
    const { deployment_id, invocation_id } = this.#owner;
    const lastAt = new Date(Math.max(...chunk.map(({ at }) => at.getTime())));
    // Until the commit no other writer of the deployment gets a sequence: readers would skip it.
    await sql`with turn as materialized (select ${lockOfWriters(deployment_id)})
      insert into app_log_chunks (id, deployment_id, invocation_id, last_at, lines)
      select ${id}, ${deployment_id}, ${invocation_id ?? null}, ${lastAt.toISOString()}::timestamptz,
        ${chunk.map(({ text }) => text).join("\n")} from turn
      on conflict (id) do nothing`.execute(this.#query);
  }
}
