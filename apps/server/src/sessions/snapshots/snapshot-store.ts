import type { Page } from "@shoal/contract";
import { snapshotNotFound } from "@shoal/contract/refusals";
import type { Database, Tables } from "@shoal/database";
import { createId, KeyedMutex } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { ListSnapshots, Snapshot } from "@shoal/schemas";
import { type Kysely, type Selectable, sql } from "kysely";
import { addAbortSignal, Readable } from "node:stream";
import type * as z from "zod/mini";
import { isStorable, newestFirst, toPage } from "../../http/paging.ts";
import { type Blobs, sweepBlobs } from "../../storage/blobs/blobs.ts";
import { BlobTooLarge } from "../../storage/blobs/measured-content.ts";
import { type KeysOfStream, openStream, sealStream } from "../../storage/blobs/sealed-stream.ts";
import type { Secrets } from "../../storage/secrets.ts";

type Row = Selectable<Tables["snapshots"]>;

export interface SnapshotStoreParts {
  readonly database: Database;
  readonly blobs: Blobs;
  readonly secrets: Pick<Secrets, "keysOfStream">;
  readonly retentionDays: number;
  /** Of one project. */
  readonly quota: { readonly maxCount: number; readonly maxBytes: number };
}

/** Stored with the content of a snapshot. */
export interface NewSnapshot {
  readonly sessionId: string;
  readonly name: string | undefined;
  readonly engine: "exact" | "restored";
  readonly notExactBecause: string | undefined;
  readonly pausedMs: number;
  readonly unpackedBytes: number;
  readonly compatibility: Readonly<Record<string, string>> | undefined;
  /** As JSON. */
  readonly settings: object;
}

export interface StoredSnapshot {
  readonly row: Row;
  /** Read or destroy it. */
  open(): Promise<Readable>;
}

const dayMs = 86_400_000;
/** Of one project on one server, and stored one after another. Each keeps a copy of its session, perhaps in memory. */
const maxAdding = 4;
const retryAfterSeconds = 15;

/** The rows of snapshots, and their sealed content. */
export class SnapshotStore {
  readonly #parts: SnapshotStoreParts;
  readonly #adding = new KeyedMutex<string>();
  readonly #addingOf = new Map<string, number>();

  constructor(parts: SnapshotStoreParts) {
    this.#parts = parts;
  }

  /**
   * Call it before a session is paused. @returns releases the place; call it after {@link SnapshotStore.add}, and once.
   * @throws {ServiceError} 409 or 507 at a limit of the project.
   */
  async reserve(projectId: string): Promise<() => void> {
    this.#requireTurn(projectId);
    this.#addingOf.set(projectId, this.#addingCount(projectId) + 1);
    const release = (): void => {
      const others = this.#addingCount(projectId) - 1;
      if (others === 0) this.#addingOf.delete(projectId);
      else this.#addingOf.set(projectId, others);
    };
    try {
      await this.#freeBytes(this.#parts.database.query, projectId);
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Needs a place of {@link SnapshotStore.reserve}. @throws {ServiceError} 409 or 507 at a limit of the project. @throws errors of the content. */
  async add(projectId: string, snapshot: NewSnapshot, content: Readable, signal: AbortSignal): Promise<Snapshot> {
    // Its reader gets the error.
    content.on("error", () => undefined);
    addAbortSignal(signal, content);
    const left = Promise.withResolvers<never>();
    const leave = (): void => {
      left.reject(signal.reason as Error);
    };
    signal.addEventListener("abort", leave);
    // One at a time: each may write as much as the project has left. The copy of a caller who leaves is not kept for its turn.
    const adding = this.#adding.run(projectId, () => {
      signal.throwIfAborted();
      return this.#add(projectId, snapshot, content, signal);
    });
    return Promise.race([adding, left.promise]).finally(() => {
      signal.removeEventListener("abort", leave);
    });
  }

  #addingCount(projectId: string): number {
    return this.#addingOf.get(projectId) ?? 0;
  }

  #requireTurn(projectId: string): void {
    if (this.#addingCount(projectId) < maxAdding) return;
    throw new ServiceError(
      409,
      "conflict",
      `${String(maxAdding)} snapshots of this project are being stored on this server, the limit.`,
      {
        limit: maxAdding,
        hint: `Try again in ${String(retryAfterSeconds)} seconds.`,
        retryAfterSeconds,
      },
    );
  }

  async #add(projectId: string, snapshot: NewSnapshot, content: Readable, signal: AbortSignal): Promise<Snapshot> {
    const { blobs, database } = this.#parts;
    const id = createId();
    const blob = await this.#put(id, projectId, content).catch((error: unknown) => {
      signal.throwIfAborted();
      throw error;
    });
    try {
      signal.throwIfAborted();
      const { size, name: blobName } = blob;
      return await database.query.transaction().execute(async (transaction) => {
        // Others of the project wait, so that two together do not exceed the limits.
        await transaction.selectFrom("projects").select("id").where("id", "=", projectId).forNoKeyUpdate().execute();
        if (size > (await this.#freeBytes(transaction, projectId))) throw this.#full();
        return shown(await this.#insert(transaction, { id, projectId, blob: blobName, size }, snapshot));
      });
    } catch (error) {
      // The sweep removes an object that remains.
      await blobs.delete(blob.name).catch(() => undefined);
      throw error;
    }
  }

  async #put(
    id: string,
    projectId: string,
    content: Readable,
  ): Promise<{ readonly name: string; readonly size: number }> {
    const { blobs, database } = this.#parts;
    try {
      const maxBytes = await this.#freeBytes(database.query, projectId);
      const sealed = sealStream(content as AsyncIterable<Buffer>, this.#keysOf(projectId, id));
      const { name, sizeBytes } = await blobs.put(Readable.from(sealed, { objectMode: false }), { maxBytes });
      return { name, size: sizeBytes };
    } catch (error) {
      content.destroy();
      throw error instanceof BlobTooLarge ? this.#full() : error;
    }
  }

  #insert(
    query: Kysely<Tables>,
    stored: { readonly id: string; readonly projectId: string; readonly blob: string; readonly size: number },
    snapshot: NewSnapshot,
  ): Promise<Row> {
    const now = Date.now();
    const { compatibility, engine, name = null, notExactBecause = null, pausedMs, sessionId, settings } = snapshot;
    return query
      .insertInto("snapshots")
      .values({
        ...{ id: stored.id, project_id: stored.projectId, session_id: sessionId, name, engine },
        ...{ not_exact_because: notExactBecause, blob: stored.blob, size_bytes: stored.size, paused_ms: pausedMs },
        unpacked_bytes: snapshot.unpackedBytes,
        compatibility: compatibility === undefined ? null : JSON.stringify(compatibility),
        settings: JSON.stringify(settings),
        created_at: new Date(now),
        expires_at: new Date(now + this.#parts.retentionDays * dayMs),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  async list(projectId: string, { session_id, ...window }: z.output<typeof ListSnapshots>): Promise<Page<Snapshot>> {
    let rows = this.#rows(projectId);
    if (session_id !== undefined) {
      if (!isStorable(session_id)) return toPage([], window, shown);
      rows = rows.where("session_id", "=", session_id);
    }
    return toPage(await newestFirst(rows, window).execute(), window, shown);
  }

  async get(projectId: string, id: string): Promise<Snapshot> {
    return shown(await this.#find(projectId, id));
  }

  async delete(projectId: string, id: string): Promise<void> {
    const { blob } = await this.#find(projectId, id);
    const { blobs, database } = this.#parts;
    await database.query.deleteFrom("snapshots").where("id", "=", id).execute();
    // The sweep removes an object that remains.
    await blobs.delete(blob).catch(() => undefined);
  }

  /** For a session that starts from it. @throws {ServiceError} 404. */
  async find(projectId: string, id: string): Promise<StoredSnapshot> {
    const row = await this.#find(projectId, id, "body.snapshot");
    return { row, open: () => this.#open(row) };
  }

  async #open({ blob, id, project_id: projectId }: Row): Promise<Readable> {
    const { blobs } = this.#parts;
    const found = await blobs.get(blob);
    if (found === undefined) {
      // It may have been deleted meanwhile.
      await this.#find(projectId, id, "body.snapshot");
      throw new ServiceError(500, "internal_error", `Snapshot ${id} is not ${blobs.place}`);
    }
    const { stream } = found;
    const opened = openStream(stream as AsyncIterable<Buffer>, this.#keysOf(projectId, id));
    const content = Readable.from(opened, { objectMode: false });
    // The generator does not run if the content is never read.
    content.once("close", () => stream.destroy());
    return content;
  }

  /** Deletes expired snapshots, and removes blobs without a row. */
  async clean(): Promise<void> {
    const { blobs, database } = this.#parts;
    const dropped = await database.query
      .deleteFrom("snapshots")
      .where("expires_at", "<", sql<string>`clock_timestamp()`)
      .returning("blob")
      .execute();
    for (const { blob } of dropped) await blobs.delete(blob);
    await sweepBlobs(blobs, async (names) => {
      const rows = await database.query.selectFrom("snapshots").select("blob").where("blob", "in", names).execute();
      return new Set(rows.map(({ blob }) => blob));
    });
  }

  async #freeBytes(query: Kysely<Tables>, projectId: string): Promise<number> {
    const { maxBytes, maxCount } = this.#parts.quota;
    const { bytes, count } = await query
      .selectFrom("snapshots")
      .select(({ fn }) => [
        fn.coalesce(fn.sum<string>("size_bytes"), sql<string>`0`).as("bytes"),
        fn.countAll<string>().as("count"),
      ])
      .where("project_id", "=", projectId)
      .executeTakeFirstOrThrow();
    if (Number(count) >= maxCount)
      throw new ServiceError(
        409,
        "conflict",
        `This project has ${String(maxCount)} snapshots, the limit (snapshot_max).`,
        { limit: maxCount, hint: "Delete some with snapshots.delete." },
      );
    if (Number(bytes) >= maxBytes) throw this.#full();
    return maxBytes - Number(bytes);
  }

  #full(): ServiceError {
    const { maxBytes } = this.#parts.quota;
    return new ServiceError(
      507,
      "insufficient_storage",
      `The snapshots of this project would use more than ${String(maxBytes / 2 ** 30)} GiB, the limit (snapshot_max_gib).`,
      { limit: maxBytes, hint: "Delete some with snapshots.delete, or raise the limit." },
    );
  }

  async #find(projectId: string, id: string, field?: string): Promise<Row> {
    const row = isStorable(id)
      ? await this.#rows(projectId)
          .where("id", "=", id)
          .where("expires_at", ">", new Date().toISOString())
          .executeTakeFirst()
      : undefined;
    if (row === undefined) throw ServiceError.of({ ...snapshotNotFound(id), field });
    return row;
  }

  #rows(projectId: string) {
    return this.#parts.database.query.selectFrom("snapshots").selectAll().where("project_id", "=", projectId);
  }

  #keysOf(projectId: string, id: string): KeysOfStream {
    return (salt) => this.#parts.secrets.keysOfStream(salt, `snapshot ${projectId}/${id}`);
  }
}

function shown(row: Row): Snapshot {
  const { compatibility, created_at, engine, expires_at, id, name, paused_ms, session_id, size_bytes } = row;
  return {
    ...{ id, session_id, engine, size_bytes, paused_ms, created_at, expires_at },
    ...(name !== null && { name }),
    ...(row.not_exact_because !== null && { not_exact_because: row.not_exact_because }),
    ...(compatibility !== null && { compatibility }),
  };
}
