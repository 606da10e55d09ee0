import type { Log } from "../../log/log.ts";
import type { SessionFiles, SessionRef } from "../../storage/session-files/session-files.ts";
import { UploadQueue } from "./upload-queue.ts";

/** A kind of files of sessions that this server keeps until they are in the store. */
export interface UploadedFiles {
  /** Sessions with files in the folder of this server. */
  localSessions(): Promise<readonly string[]>;
  /** Uploads the session's complete files and removes them from this server. @param isOver - the session has ended. */
  store(session: SessionRef, isOver: boolean, signal: AbortSignal): Promise<void>;
  /** True while the session has files on this server. */
  hasLocal(session: SessionRef): Promise<boolean>;
}

export interface SessionUploadsParts {
  readonly files: Pick<SessionFiles, "isUploading" | "markStored" | "projectOf">;
  readonly kinds: readonly UploadedFiles[];
  readonly isRunning: (sessionId: string) => boolean;
  readonly log: Log;
}

/** Longest wait of a stopping server. */
const closeMs = 20_000;

/** Moves files of sessions to the store. Without a store, only marks sessions that left no files. */
export class SessionUploads {
  readonly #parts: SessionUploadsParts;
  readonly #queue: UploadQueue;

  constructor(parts: SessionUploadsParts) {
    this.#parts = parts;
    this.#queue = new UploadQueue({ upload: (id, signal) => this.#upload(id, signal), log: parts.log });
  }

  /** Sessions whose files are not stored yet. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Call it after the end of a session or of one of its files. Never fails. */
  add(sessionId: string): void {
    this.#queue.add(sessionId);
  }

  /** Adds files that an earlier run of this server left. */
  async addLeft(): Promise<void> {
    if (!this.#parts.files.isUploading) return;
    for (const kind of this.#parts.kinds) for (const id of await kind.localSessions()) this.#queue.add(id);
  }

  async close(): Promise<void> {
    await this.#queue.close(closeMs);
  }

  async #upload(sessionId: string, signal: AbortSignal): Promise<void> {
    const { files, isRunning, kinds } = this.#parts;
    const projectId = await files.projectOf(sessionId);
    // Without a row, the files remain here until their retention ends.
    if (projectId === undefined) return;
    const isOver = !isRunning(sessionId);
    let left = false;
    for (const kind of kinds) {
      if (files.isUploading) await kind.store({ sessionId, projectId }, isOver, signal);
      left ||= await kind.hasLocal({ sessionId, projectId });
    }
    if (isOver && !left) await files.markStored(sessionId);
  }
}
