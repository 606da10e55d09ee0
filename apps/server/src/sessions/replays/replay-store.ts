import { answerText, type Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { MarkReplay, Replay, ReplayMark } from "@shoal/schemas";
import { mkdir, stat, writeFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import pTimeout from "p-timeout";
import type { Log } from "../../log/log.ts";
import type { SessionRef } from "../../storage/session-files/session-files.ts";
import { failureOf, followRecording } from "./follow-recording.ts";
import { isPlayable, type OpenedFilm, openFilm } from "./film.ts";
import {
  maxRecordingsPerSession,
  type RecordedSession,
  RecordingLimits,
  type ReplayQuota,
  type RunningRecording,
} from "./recording-limits.ts";
import { markOffset, withMark } from "./marks.ts";
import { isReplayId, ReplayFiles } from "./replay-files.ts";
import type { Film, StoredReplay, StoredReplays } from "./stored-replays.ts";

export interface ReplayStoreOptions {
  readonly directory: string;
  /** Recordings in the store; absent: all remain in the directory. */
  readonly stored?: StoredReplays;
  /** Called when a film is complete. */
  readonly onFilm?: (sessionId: string) => void;
  readonly retentionDays: number;
  readonly quota: ReplayQuota;
  readonly log: Log;
}

const dayMs = 24 * 60 * 60 * 1000;
const finishTimeoutMs = 5_000;
const stopTimeoutMs = 30_000;
const maxClockDifferenceMs = 60_000;

interface Going extends RunningRecording {
  readonly id: string;
  readonly done: Promise<void>;
  readonly cut: AbortController;
  isStopping: boolean;
}

export class ReplayStore {
  readonly retentionDays: number;
  readonly #files: ReplayFiles;
  readonly #limits: RecordingLimits;
  readonly #log: Log;
  readonly #stored: StoredReplays | undefined;
  readonly #onFilm: (sessionId: string) => void;
  readonly #going = new Map<string, Going>();
  readonly #recorded = new Set<string>();
  #measured: Promise<void> | undefined;

  constructor({ directory, retentionDays, quota, log, stored, onFilm }: ReplayStoreOptions) {
    this.retentionDays = retentionDays;
    this.#files = new ReplayFiles(directory);
    this.#limits = new RecordingLimits(quota);
    this.#log = log;
    this.#stored = stored;
    this.#onFilm = onFilm ?? (() => undefined);
  }

  /** Checks the limits for a new recording. @throws {ServiceError} 409, 507. */
  async admit(session: RecordedSession): Promise<void> {
    await (this.#measured ??= this.#measure());
    const stored = (await this.#stored?.list(session.id)) ?? [];
    const ids = new Set([...(await this.#files.ids(session.id)), ...stored.map(({ replay_id: id }) => id)]);
    if (ids.size >= maxRecordingsPerSession)
      throw new ServiceError(
        409,
        "conflict",
        `This session has ${String(maxRecordingsPerSession)} recordings, the limit.`,
        { limit: maxRecordingsPerSession, hint: "Record in another session." },
      );
    if (this.#stored !== undefined)
      this.#limits.noteStored(session.projectId, await this.#stored.usedBytes(session.projectId));
    this.#limits.admit(session, this.#going.values());
  }

  /**
   * @param replay - description by the instance. @param continues - id of the recording whose next part it is.
   * @throws {ServiceError} 409, 507: limits apply even if the instance ignores them.
   */
  async keep(session: RecordedSession, instance: Instance, replay: Replay, continues?: string): Promise<void> {
    const { replay_id: id } = replay;
    const key = keyOf(session.id, id);
    // A repeated request.
    if (this.#going.has(key) || (await this.#load(session.id, id)) !== undefined) return;
    const before = continues === undefined ? undefined : await this.#load(session.id, continues);
    await this.admit(session);
    const cut = new AbortController();
    const kept: Replay = {
      ...replay,
      started_at: startedAt(replay.started_at),
      ...(before?.by_default === true && { by_default: true }),
    };
    // Count before the first await: other recordings may be admitted meanwhile.
    const done = this.#follow({ session, instance, replay: kept, cut });
    this.#recorded.add(session.id);
    this.#going.set(key, { session, id, done, cut, isStopping: false });
    await done.begun;
  }

  /** Oldest first. */
  async list(sessionId: string): Promise<Replay[]> {
    const startOf = ({ started_at }: Replay): number => (typeof started_at === "string" ? Date.parse(started_at) : 0);
    const local = await this.#local(sessionId);
    // After the local ones: a film moves to the store.
    const stored = (await this.#stored?.list(sessionId)) ?? [];
    const byId = new Map([...stored, ...local].map((replay) => [replay.replay_id, replay]));
    return [...byId.values()].sort((a, b) => startOf(a) - startOf(b));
  }

  /** @throws {ServiceError} 404. */
  async show(sessionId: string, replayId: string): Promise<Replay> {
    const replay = isReplayId(replayId)
      ? ((await this.#load(sessionId, replayId)) ?? (await this.#stored?.find(sessionId, replayId))?.replay)
      : undefined;
    if (replay === undefined)
      throw new ServiceError(
        404,
        "not_found",
        `Browser ${sessionId} has no recording ${replayId.slice(0, 100)}; recordings are deleted ${String(this.retentionDays)} days after their end (replay_retention_days).`,
        { hint: "List recordings with browsers.replays.list." },
      );
    return replay;
  }

  /** Default position: now, or the end of the recording. @throws {ServiceError} 404; 409 when there are too many. */
  async mark(sessionId: string, replayId: string, { title, offset_seconds }: MarkReplay): Promise<ReplayMark> {
    const { started_at, finished_at } = await this.show(sessionId, replayId);
    const mark = { title, offset_seconds: markOffset({ started_at, finished_at }, offset_seconds) };
    const add = (present: Replay) => withMark(present, mark);
    if (await this.#files.change(sessionId, replayId, add)) return mark;
    const stored = await this.#stored?.find(sessionId, replayId);
    if (stored !== undefined) await this.#stored?.change(stored, add);
    return mark;
  }

  /** Returns `going` while the file grows. @throws {ServiceError} 404. */
  async find(sessionId: string, replayId: string): Promise<{ readonly going: boolean; readonly isByDefault: boolean }> {
    const { by_default: isByDefault = false } = await this.show(sessionId, replayId);
    return { going: this.#going.has(keyOf(sessionId, replayId)), isByDefault };
  }

  /** Limits the time for copying the remaining film. @param replayId - default: all recordings of the session. */
  noteStop(sessionId: string, replayId?: string): void {
    for (const going of this.#going.values()) {
      if (going.session.id !== sessionId || (replayId !== undefined && going.id !== replayId) || going.isStopping)
        continue;
      going.isStopping = true;
      const timer = setTimeout(() => {
        going.cut.abort();
      }, stopTimeoutMs);
      void going.done.then(() => {
        clearTimeout(timer);
      });
    }
  }

  /**
   * `undefined` while it grows. @param soFar - returns the part that is stored already. @throws {ServiceError} 404, also
   * without a film.
   */
  async film(sessionId: string, replayId: string, soFar = false): Promise<OpenedFilm | undefined> {
    const { failure_reason } = await this.show(sessionId, replayId);
    const isGoing = this.#going.has(keyOf(sessionId, replayId));
    if (isGoing && !soFar) return undefined;
    const film = await openFilm(this.#files.filmOf(sessionId, replayId));
    if (film !== undefined || isGoing) return film;
    const stored = await this.#stored?.find(sessionId, replayId);
    if (stored !== undefined && stored.file.sizeBytes > 0)
      return { sizeBytes: stored.file.sizeBytes, read: (range) => this.#readStored(stored, range) };
    throw new ServiceError(
      404,
      "not_found",
      `Recording ${replayId} failed: ${failure_reason ?? "no film was saved."}`,
      { hint: "Record again." },
    );
  }

  /** Returns the complete file; `undefined` while it grows. @throws {ServiceError} 404, also without a film. */
  async read(
    sessionId: string,
    replayId: string,
  ): Promise<{ readonly stream: Readable; readonly sizeBytes: number } | undefined> {
    const film = await this.film(sessionId, replayId);
    return film && { stream: film.read(), sizeBytes: film.sizeBytes };
  }

  /**
   * Waits a few seconds for the files. Call it before stopping the instance. Never rejects. `undefined` = no
   * recordings.
   */
  finish(sessionId: string, instance: Instance): Promise<void> | undefined {
    const own = [...this.#going.values()].filter(({ session }) => session.id === sessionId);
    if (own.length === 0) return undefined;
    const signal = AbortSignal.timeout(finishTimeoutMs);
    const finished = own.map(async ({ id, done }) => {
      await answerText(await instance.request({ method: "POST", path: `/replays/${id}/stop`, signal }));
      await done;
    });
    const settled = Promise.allSettled(finished).then(() => undefined);
    return pTimeout(settled, { milliseconds: finishTimeoutMs, fallback: () => undefined });
  }

  /** By project, on this server. */
  async usedBytes(): Promise<ReadonlyMap<string, number>> {
    await (this.#measured ??= this.#measure());
    return this.#limits.usedBytes;
  }

  /** Deletes recordings after their retention. @returns their number. */
  async sweep(nowMs = Date.now()): Promise<number> {
    await (this.#measured ??= this.#measure());
    let removed = 0;
    for (const sessionId of await this.#files.sessions()) {
      try {
        removed += await this.#sweepSession(sessionId, nowMs);
      } catch (error) {
        this.#log.warn({ session_id: sessionId, err: error }, "old recordings of a session could not be deleted");
      }
    }
    return removed;
  }

  async #sweepSession(sessionId: string, nowMs: number): Promise<number> {
    let removed = 0;
    for (const { replay_id: id, finished_at } of await this.#local(sessionId)) {
      if (typeof finished_at !== "string" || nowMs - Date.parse(finished_at) <= this.retentionDays * dayMs) continue;
      await this.#remove(sessionId, id);
      removed++;
    }
    await this.#files.removeEmpty(sessionId);
    return removed;
  }

  /** Call it once, at the end of the session. */
  wasRecorded(sessionId: string): boolean {
    return this.#recorded.delete(sessionId);
  }

  localSessions(): Promise<readonly string[]> {
    return this.#files.sessions();
  }

  async hasLocal({ sessionId }: SessionRef): Promise<boolean> {
    return (await this.#files.ids(sessionId)).length > 0;
  }

  /** Uploads complete films of a session to the store, and removes them here. */
  async store({ projectId, sessionId }: SessionRef, _isOver: boolean, signal: AbortSignal): Promise<void> {
    if (this.#stored === undefined) return;
    await (this.#measured ??= this.#measure());
    for (const id of await this.#files.ids(sessionId)) {
      if (this.#going.has(keyOf(sessionId, id))) continue;
      const film = await this.#filmOf(sessionId, id);
      if (film !== undefined) await this.#move({ id: sessionId, projectId }, film, signal);
    }
    await this.#files.removeEmpty(sessionId);
  }

  async #move(session: RecordedSession, film: Film, signal: AbortSignal): Promise<void> {
    const { replay_id: id } = film.replay;
    await this.#stored?.upload(session, film, signal);
    // With the marks that were added during the upload.
    await this.#files.exclusively(session.id, id, async (present) => {
      if (present === undefined) return;
      const replay = { ...film.replay, ...(present.replay.marks && { marks: present.replay.marks }) };
      await this.#stored?.complete(session, { ...film, replay });
      await this.#remove(session.id, id);
      this.#limits.noteStored(session.projectId, film.sizeBytes, true);
    });
  }

  /** An unplayable film has no bytes. */
  async #filmOf(sessionId: string, id: string): Promise<Film | undefined> {
    const replay = await this.#load(sessionId, id);
    if (replay === undefined) return undefined;
    const path = this.#files.filmOf(sessionId, id);
    const hasPictures = await isPlayable(path).catch(() => false);
    return { path, sizeBytes: hasPictures ? await this.#files.filmBytes(sessionId, id) : 0, replay };
  }

  async #local(sessionId: string): Promise<Replay[]> {
    const found = await Promise.all((await this.#files.ids(sessionId)).map((id) => this.#load(sessionId, id)));
    return found.filter((replay) => replay !== undefined);
  }

  #readStored(stored: StoredReplay, range: { readonly start: number; readonly end: number } | undefined): Readable {
    if (this.#stored === undefined) throw new Error("Recordings are not in a store.");
    return this.#stored.read(stored, range);
  }

  /** Counts files of earlier runs. */
  async #measure(): Promise<void> {
    for (const sessionId of await this.#files.sessions()) {
      for (const id of await this.#files.ids(sessionId)) {
        if (this.#going.has(keyOf(sessionId, id))) continue;
        const projectId = (await this.#files.read(sessionId, id).catch(() => undefined))?.projectId;
        if (projectId !== undefined) this.#limits.count(projectId, await this.#files.filmBytes(sessionId, id));
      }
    }
  }

  async #remove(sessionId: string, id: string): Promise<void> {
    const projectId = (await this.#files.read(sessionId, id))?.projectId;
    if (projectId !== undefined) this.#limits.count(projectId, -(await this.#files.filmBytes(sessionId, id)));
    await this.#files.remove(sessionId, id);
  }

  /** @returns a promise for the end of the film; `begun` resolves when its files exist. Only `begun` rejects. */
  #follow(recording: {
    readonly session: RecordedSession;
    readonly instance: Instance;
    readonly replay: Replay;
    readonly cut: AbortController;
  }): Promise<void> & { readonly begun: Promise<void> } {
    const { cut, instance, replay, session } = recording;
    const { replay_id: id } = replay;
    const begun = this.#begin(session, replay);
    const done = begun
      .then(async () => {
        const path = this.#files.filmOf(session.id, id);
        const end = await followRecording({
          session,
          instance,
          id,
          path,
          limits: this.#limits,
          signal: cut.signal,
          log: this.#log,
        });
        await this.#files.change(session.id, id, (present) => ({ ...present, ...end }));
      })
      .catch((error: unknown) => {
        this.#log.warn({ session_id: session.id, replay_id: id, err: error }, "a recording could not be saved");
      })
      .finally(() => {
        this.#going.delete(keyOf(session.id, id));
        this.#onFilm(session.id);
      });
    return Object.assign(done, { begun });
  }

  async #begin(session: RecordedSession, replay: Replay): Promise<void> {
    await mkdir(this.#files.folderOf(session.id), { recursive: true, mode: 0o700 });
    await writeFile(this.#files.filmOf(session.id, replay.replay_id), "", { mode: 0o600 });
    await this.#files.write(session.id, { replay, projectId: session.projectId });
    if (this.#stored?.isUploading === true)
      await this.#stored.announce(session, replay).catch((error: unknown) => {
        this.#log.warn(
          { session_id: session.id, err: error },
          "a recording could not be announced to the other servers",
        );
      });
  }

  async #load(sessionId: string, id: string): Promise<Replay | undefined> {
    const described = await this.#files.read(sessionId, id);
    if (described === undefined) return undefined;
    const { replay } = described;
    if (typeof replay.finished_at === "string" || this.#going.has(keyOf(sessionId, id))) return replay;
    // This server was killed during the recording.
    const path = this.#files.filmOf(sessionId, id);
    const found = await stat(path).catch(() => undefined);
    return {
      ...replay,
      finished_at: (found?.mtime ?? new Date(replay.started_at ?? Date.now())).toISOString(),
      ...(await failureOf(path, "The server was killed before the recording was complete.")),
    };
  }
}

function keyOf(sessionId: string, id: string): string {
  return `${sessionId}/${id}`;
}

/** The start according to the instance, unless its clock is wrong. */
function startedAt(said: string | null | undefined): string {
  const nowMs = Date.now();
  const saidMs = said == null ? Number.NaN : Date.parse(said);
  return new Date(Math.abs(saidMs - nowMs) <= maxClockDifferenceMs ? saidMs : nowMs).toISOString();
}
