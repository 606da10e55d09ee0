import type { Database, Tables } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import { type Kysely, sql } from "kysely";
import { Readable } from "node:stream";
import { type BlobRange, type Blobs, sweepBlobs } from "../blobs/blobs.ts";
import { openRange, sealStream } from "../blobs/sealed-stream.ts";
import type { Secrets } from "../secrets.ts";

export type SessionFileKind = Tables["session_files"]["kind"];

export interface SessionRef {
  readonly sessionId: string;
  readonly projectId: string;
}

export interface SessionFileRef extends SessionRef {
  readonly kind: SessionFileKind;
  /** Unique for the session and kind. */
  readonly name: string;
}

export interface SessionFile extends SessionFileRef {
  readonly description: unknown;
  readonly sizeBytes: number;
  /** False: the session's server had not uploaded it. */
  readonly isStored: boolean;
  readonly blobs: readonly string[];
  readonly pieceBytes: number;
  readonly sessionEndedAt: string | null;
}

/** A complete file of this server, which does not change any more. */
export interface LocalFile {
  readonly sizeBytes: number;
  /** When the retention begins. */
  readonly keptFrom: Date;
  /** Inclusive offsets. */
  read(start: number, end: number): Promise<Readable> | Readable;
}

type SealingSecrets = Pick<Secrets, "keysOfStream" | "seal" | "unsealStored">;

/** Uploads continue after the last complete piece. */
const newPieceBytes = 32 * 2 ** 20;

/** Files of sessions in the store for blobs: encrypted in pieces, with a row each. Any server can read them. */
export class SessionFiles {
  /** Whether servers move their files here: only into a store, which outlives them. */
  readonly isUploading: boolean;
  readonly #query: Kysely<Tables>;
  readonly #blobs: Blobs;
  readonly #secrets: SealingSecrets;
  readonly #newPieceBytes: number;

  constructor(parts: {
    readonly database: Database;
    readonly blobs: Blobs;
    readonly secrets: SealingSecrets;
    readonly isUploading: boolean;
    /** Of new files. */
    readonly pieceBytes?: number;
  }) {
    this.isUploading = parts.isUploading;
    this.#query = parts.database.query;
    this.#blobs = parts.blobs;
    this.#secrets = parts.secrets;
    this.#newPieceBytes = parts.pieceBytes ?? newPieceBytes;
  }

  /** Adds the row of a file that follows later, so that its loss is visible. */
  async announce(ref: SessionFileRef, description: unknown): Promise<void> {
    await this.#query
      .insertInto("session_files")
      .values({ ...this.#rowOf(ref), description: this.#seal(ref, description) })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  /**
   * Uploads the pieces of a file that are missing in the store. {@link complete} makes the file visible.
   * @throws {ServiceError} 503 when the store is unavailable.
   */
  async upload(ref: SessionFileRef, file: LocalFile, signal: AbortSignal): Promise<void> {
    const begun = await this.find(ref.sessionId, ref.kind, ref.name);
    const pieceBytes = begun?.pieceBytes ?? this.#newPieceBytes;
    const pieces = Math.ceil(file.sizeBytes / pieceBytes);
    let present = begun?.blobs.length ?? 0;
    for (; present < pieces; present += 1) {
      signal.throwIfAborted();
      const start = present * pieceBytes;
      const end = Math.min(start + pieceBytes, file.sizeBytes) - 1;
      const content = await file.read(start, end);
      try {
        await this.#uploadPiece({ ...ref, index: present }, content, end - start + 1);
      } finally {
        content.destroy();
      }
    }
  }

  async complete(ref: SessionFileRef, file: Omit<LocalFile, "read">, description: unknown): Promise<void> {
    const values = {
      description: this.#seal(ref, description),
      size_bytes: file.sizeBytes,
      kept_from: file.keptFrom,
      stored_at: new Date(),
    };
    await this.#query
      .insertInto("session_files")
      .values({ ...this.#rowOf(ref), ...values })
      .onConflict((conflict) => conflict.columns(["session_id", "kind", "name"]).doUpdateSet(values))
      .execute();
  }

  /** Also files that are incomplete. */
  async list(sessionId: string, kind: SessionFileKind): Promise<SessionFile[]> {
    return this.#rows(sessionId, kind);
  }

  async find(sessionId: string, kind: SessionFileKind, name: string): Promise<SessionFile | undefined> {
    return (await this.#rows(sessionId, kind, name))[0];
  }

  /** Whether there are files of the kind without the session's server: complete ones, or recordings that it lost. */
  async hasAny(sessionId: string, kind: SessionFileKind): Promise<boolean> {
    const found = await this.#query
      .selectFrom("session_files")
      .select("name")
      .where("session_id", "=", sessionId)
      .where("kind", "=", kind)
      .where(sql<boolean>`(stored_at is not null or kind = 'recording')`)
      .limit(1)
      .executeTakeFirst();
    return found !== undefined;
  }

  /** Reads and replaces the description in one transaction. Does nothing if the file is gone. */
  async describe(file: SessionFile, change: (description: unknown) => unknown): Promise<void> {
    await this.#query.transaction().execute(async (transaction) => {
      const row = await transaction
        .selectFrom("session_files")
        .select("description")
        .where("session_id", "=", file.sessionId)
        .where("kind", "=", file.kind)
        .where("name", "=", file.name)
        .forUpdate()
        .executeTakeFirst();
      if (row === undefined) return;
      await transaction
        .updateTable("session_files")
        .set({ description: this.#seal(file, change(this.#unseal(file, row.description))) })
        .where("session_id", "=", file.sessionId)
        .where("kind", "=", file.kind)
        .where("name", "=", file.name)
        .execute();
    });
  }

  /** @param range - default: everything; the end must be inside the file. The stream fails if the content was changed. */
  read(file: SessionFile, range: BlobRange = { start: 0, end: file.sizeBytes - 1 }): Readable {
    return Readable.from(this.#content(file, range), { objectMode: false });
  }

  async projectOf(sessionId: string): Promise<string | undefined> {
    const row = await this.#query
      .selectFrom("sessions")
      .select("project_id")
      .where("id", "=", sessionId)
      .executeTakeFirst();
    return row?.project_id;
  }

  /** Marks an ended session without files on its server. */
  async markStored(sessionId: string): Promise<void> {
    await this.#query
      .updateTable("sessions")
      .set({ files_stored: true })
      .where("id", "=", sessionId)
      .where("ended_at", "is not", null)
      .where("files_stored", "=", false)
      .execute();
  }

  /** Bytes of one project. */
  async usedBytes(projectId: string, kind: SessionFileKind): Promise<number> {
    const { bytes } = await this.#query
      .selectFrom("session_files")
      .select(sql<number>`coalesce(sum(size_bytes), 0)::bigint`.as("bytes"))
      .where("project_id", "=", projectId)
      .where("kind", "=", kind)
      .where("stored_at", "is not", null)
      .executeTakeFirstOrThrow();
    return bytes;
  }

  /** Deletes files whose retention began before `date`. @returns their number. */
  async dropBefore(kind: SessionFileKind, date: Date): Promise<number> {
    const dropped = await this.#query
      .deleteFrom("session_files")
      .where("kind", "=", kind)
      .where("kept_from", "<", date.toISOString())
      .returning("blobs")
      .execute();
    // The sweep removes objects that remain.
    for (const name of dropped.flatMap(({ blobs }) => blobs)) await this.#blobs.delete(name);
    return dropped.length;
  }

  /** Removes objects without a row. @returns their number. */
  sweep(): Promise<number> {
    return sweepBlobs(this.#blobs, (names) => this.#named(names));
  }

  async #named(names: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#query
      .selectFrom("session_files")
      .select("blobs")
      .where(sql<boolean>`blobs && ${names}::text[]`)
      .execute();
    return new Set(rows.flatMap(({ blobs }) => blobs));
  }

  async #uploadPiece(piece: SessionFileRef & { readonly index: number }, content: Readable, sizeBytes: number) {
    const sealed = Readable.from(sealStream(exactly(content, sizeBytes), this.#keysOf(piece)), { objectMode: false });
    const { name } = await this.#blobs.put(sealed, { maxBytes: sizeBytes * 2 + 2 ** 20 });
    await this.#query
      .insertInto("session_files")
      .values({ ...this.#rowOf(piece), description: this.#seal(piece, {}), blobs: [name] })
      .onConflict((conflict) =>
        conflict
          .columns(["session_id", "kind", "name"])
          .doUpdateSet({ blobs: sql<string[]>`session_files.blobs || excluded.blobs` }),
      )
      .execute();
  }

  async *#content(file: SessionFile, { end, start }: BlobRange): AsyncGenerator<Buffer, void, undefined> {
    for (let at = start; at <= end;) {
      const index = Math.floor(at / file.pieceBytes);
      const offset = index * file.pieceBytes;
      const sizeBytes = Math.min(file.pieceBytes, file.sizeBytes - offset);
      const range = { sizeBytes, start: at - offset, end: Math.min(end - offset, sizeBytes - 1) };
      yield* openRange(
        (from, to) => this.#blob(file, index, { start: from, end: to }),
        range,
        this.#keysOf({ ...file, index }),
      );
      at = offset + sizeBytes;
    }
  }

  async #blob(file: SessionFile, index: number, range: BlobRange): Promise<Readable> {
    const name = file.blobs[index];
    const found = name === undefined ? undefined : await this.#blobs.get(name, range);
    if (found === undefined)
      throw new ServiceError(
        500,
        "internal_error",
        `Part ${String(index + 1)} of the ${file.kind} ${file.name} of browser ${file.sessionId} is not ${this.#blobs.place}`,
      );
    return found.stream;
  }

  async #rows(sessionId: string, kind: SessionFileKind, name?: string): Promise<SessionFile[]> {
    let rows = this.#query
      .selectFrom("session_files")
      .innerJoin("sessions", "sessions.id", "session_files.session_id")
      .selectAll("session_files")
      .select("sessions.ended_at")
      .where("session_files.session_id", "=", sessionId)
      .where("kind", "=", kind)
      .orderBy("session_files.name");
    if (name !== undefined) rows = rows.where("session_files.name", "=", name);
    return (await rows.execute()).map((row) => {
      const ref = { sessionId, projectId: row.project_id, kind, name: row.name };
      return {
        ...ref,
        description: this.#unseal(ref, row.description),
        sizeBytes: row.size_bytes,
        isStored: row.stored_at !== null,
        blobs: row.blobs,
        pieceBytes: row.piece_bytes,
        sessionEndedAt: row.ended_at,
      };
    });
  }

  #rowOf({ kind, name, projectId, sessionId }: SessionFileRef) {
    return { session_id: sessionId, project_id: projectId, kind, name, piece_bytes: this.#newPieceBytes };
  }

  #seal(ref: SessionFileRef, description: unknown): Buffer {
    return this.#secrets.seal(JSON.stringify(description), purposeOf(ref));
  }

  /** @returns `undefined` when the service has another secret. */
  #unseal(ref: SessionFileRef, sealed: Buffer): unknown {
    const text = this.#secrets.unsealStored(sealed, purposeOf(ref));
    return text === undefined ? undefined : JSON.parse(text);
  }

  #keysOf({ index, ...ref }: SessionFileRef & { readonly index: number }) {
    return (salt: Uint8Array) => this.#secrets.keysOfStream(salt, `${purposeOf(ref)} piece ${String(index)}`);
  }
}

function purposeOf({ kind, name, projectId, sessionId }: SessionFileRef): string {
  return `session file ${projectId}/${sessionId}/${kind}/${name}`;
}

/** @throws {Error} when the source is shorter or longer: the file changed during its upload. */
async function* exactly(source: Readable, sizeBytes: number): AsyncGenerator<Buffer, void, undefined> {
  let left = sizeBytes;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    left -= chunk.length;
    if (left < 0) break;
    yield chunk;
  }
  if (left !== 0) throw new Error("The file changed during its upload.");
}
