import { Replay } from "@shoal/schemas";
import { createReadStream } from "node:fs";
import type { LocalFile, SessionFile, SessionFiles } from "../../storage/session-files/session-files.ts";
import type { RecordedSession } from "./recording-limits.ts";

export interface StoredReplay {
  readonly file: SessionFile;
  readonly replay: Replay;
}

const kind = "recording";

/** Recordings in the store, and lost recordings of other servers. */
export class StoredReplays {
  readonly isUploading: boolean;
  readonly #files: SessionFiles;

  constructor(files: SessionFiles) {
    this.#files = files;
    this.isUploading = files.isUploading;
  }

  /** Makes a recording visible that its server may lose. */
  async announce({ id, projectId }: RecordedSession, replay: Replay): Promise<void> {
    await this.#files.announce({ sessionId: id, projectId, kind, name: replay.replay_id }, replay);
  }

  async list(sessionId: string): Promise<Replay[]> {
    return (await this.#files.list(sessionId, kind)).map(({ description, ...file }) =>
      replayOf({ ...file, description }),
    );
  }

  async find(sessionId: string, id: string): Promise<StoredReplay | undefined> {
    const file = await this.#files.find(sessionId, kind, id);
    return file && { file, replay: replayOf(file) };
  }

  async change({ file }: StoredReplay, make: (present: Replay) => Replay): Promise<void> {
    await this.#files.describe(file, (description) => make(Replay.parse(description)));
  }

  read({ file }: StoredReplay, range?: { readonly start: number; readonly end: number }) {
    return this.#files.read(file, range);
  }

  /** Uploads a film; {@link complete} makes it visible. */
  async upload({ id, projectId }: RecordedSession, film: Film, signal: AbortSignal): Promise<void> {
    const ref = { sessionId: id, projectId, kind, name: film.replay.replay_id } as const;
    await this.#files.upload(ref, localFile(film), signal);
  }

  async complete({ id, projectId }: RecordedSession, film: Film): Promise<void> {
    const ref = { sessionId: id, projectId, kind, name: film.replay.replay_id } as const;
    await this.#files.complete(ref, localFile(film), film.replay);
  }

  usedBytes(projectId: string): Promise<number> {
    return this.#files.usedBytes(projectId, kind);
  }
}

/** A complete recording of this server. */
export interface Film {
  readonly path: string;
  readonly sizeBytes: number;
  readonly replay: Replay;
}

function localFile({ path, replay, sizeBytes }: Film): LocalFile {
  return {
    sizeBytes,
    keptFrom: new Date(replay.finished_at ?? Date.now()),
    read: (start, end) => createReadStream(path, { start, end }),
  };
}

/** The server of an incomplete file is gone, or it would have answered. */
function replayOf(file: SessionFile): Replay {
  const replay = Replay.safeParse(file.description);
  const known: Replay = replay.success ? replay.data : { replay_id: file.name };
  if (file.isStored && replay.success) return known;
  return {
    ...known,
    finished_at: known.finished_at ?? file.sessionEndedAt ?? null,
    failure_reason: replay.success
      ? "The server of the session stopped before it had uploaded the film."
      : "The recording was encrypted with another secret_key.",
  };
}
