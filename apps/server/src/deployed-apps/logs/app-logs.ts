import type { Database } from "@shoal/database";
import type { Log } from "../../log/log.ts";
import { decodeChunk, type LogPosition, type StoredLine } from "./chunk.ts";
import { type LogLimits, LogWriter } from "./chunk-writer.ts";
import { LogQuota } from "./log-quota.ts";

/** A deployment has the lines of its build and of all its invocations. */
export type LogOwner = { readonly deployment_id: string } | { readonly invocation_id: string };

export interface LogStart {
  /** Skips earlier lines. */
  readonly since?: Date | undefined;
  /** Skips this line and the ones before it. */
  readonly after?: LogPosition | undefined;
}

/** Bounds the memory of a reader: a chunk has at most 128 KiB of lines, or one line. */
const chunksAtOnce = 4;

export class LogReader {
  readonly #query: Database["query"];
  readonly #owner: LogOwner;
  readonly #since: Date | undefined;
  #after: LogPosition;

  constructor(query: Database["query"], owner: LogOwner, { since, after }: LogStart) {
    this.#query = query;
    this.#owner = owner;
    this.#since = since;
    this.#after = after ?? { sequence: 0, index: -1 };
  }

  /** Returns the next stored lines, in order; none = all stored lines were returned. */
  async read(): Promise<readonly StoredLine[]> {
    for (;;) {
      const after = this.#after;
      let rows = this.#query
        .selectFrom("app_log_chunks")
        .select(["sequence", "invocation_id", "lines"])
        .where("sequence", after.index < 0 ? ">" : ">=", after.sequence);
      rows =
        "invocation_id" in this.#owner
          ? rows.where("invocation_id", "=", this.#owner.invocation_id)
          : rows.where("deployment_id", "=", this.#owner.deployment_id);
      if (this.#since !== undefined) rows = rows.where("last_at", ">=", this.#since.toISOString());
      const chunks = await rows.orderBy("sequence").limit(chunksAtOnce).execute();
      const last = chunks.at(-1);
      if (last === undefined) return [];
      const lines = chunks.flatMap(decodeChunk).filter((line) => this.#isWanted(line, after));
      this.#after = { sequence: last.sequence, index: -1 };
      if (lines.length > 0) return lines;
    }
  }

  #isWanted({ at, position }: StoredLine, after: LogPosition): boolean {
    if (position.sequence === after.sequence && position.index <= after.index) return false;
    return this.#since === undefined || at >= this.#since;
  }
}

/** Lines that builds and invocations write, stored in chunks in the database. */
export class AppLogs {
  readonly #database: Pick<Database, "query" | "onChange">;
  readonly #limits: Partial<LogLimits>;
  readonly #log: Log;
  readonly #quota: LogQuota;

  constructor({ database, limits = {}, log, maxProjectBytes }: AppLogsParts) {
    this.#database = database;
    this.#limits = limits;
    this.#log = log;
    this.#quota = new LogQuota(database.query, maxProjectBytes);
  }

  /** Batches lines and keeps their order. One writer at a time per owner. */
  writer(owner: { readonly deployment_id: string; readonly invocation_id?: string }): LogWriter {
    return new LogWriter({
      ...{ query: this.#database.query, owner, limits: this.#limits, log: this.#log },
      onStored: (bytes) => this.#quota.stored(owner.deployment_id, bytes),
    });
  }

  reader(owner: LogOwner, from: LogStart): LogReader {
    return new LogReader(this.#database.query, owner, from);
  }

  /** Calls `listener` after new lines of the owner, and whenever lines may have been missed. @returns a function that stops. */
  onLines(owner: LogOwner, listener: () => void): () => void {
    const isOwn = (id: string) =>
      "invocation_id" in owner ? id.startsWith(`${owner.invocation_id}@`) : id.endsWith(`@${owner.deployment_id}`);
    return this.#database.onChange((change) => {
      if (change === undefined || (change.table === "app_log_chunks" && isOwn(change.id))) listener();
    });
  }

  /** Deletes lines from before `date`, and the oldest ones of projects that have too many. */
  async dropBefore(date: Date): Promise<void> {
    await this.#database.query.deleteFrom("app_log_chunks").where("last_at", "<", date.toISOString()).execute();
    await this.#quota.shortenAll();
  }
}

export interface AppLogsParts {
  readonly database: Pick<Database, "query" | "onChange">;
  readonly limits?: Partial<LogLimits>;
  readonly log: Log;
  /** Of all lines of a project, also of its earlier deployments. */
  readonly maxProjectBytes: () => number;
}

export type { LogWriter, StoredLine };
