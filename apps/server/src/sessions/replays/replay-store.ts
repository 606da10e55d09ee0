import { answerText, type Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { MarkReplay, Replay, ReplayMark } from "@shoal/schemas";
import { createReadStream } from "node:fs";
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import pTimeout from "p-timeout";
import type { Log } from "../../observability/log/log.ts";
import { failureOf, followRecording } from "./follow-recording.ts";
import { isPlayable } from "./film.ts";
import {
  maxRecordingsPerSession,
  type RecordedSession,
  RecordingLimits,
  type ReplayQuota,
  type RunningRecording,
} from "./recording-limits.ts";
import { isReplayId, ReplayFiles } from "./replay-files.ts";

export interface ReplayStore {
  readonly retentionDays: number;
  /** Checks the limits for a new recording. @throws {ServiceError} 409, 507. */
  admit(session: RecordedSession): Promise<void>;
  /**
   * @param replay - description by the instance. @throws {ServiceError} 409, 507: limits apply even if the instance
   * ignores them.
   */
  keep(session: RecordedSession, instance: Instance, replay: Replay): Promise<void>;
  /** Oldest first. */
  list(sessionId: string): Promise<Replay[]>;
  /** @throws {ServiceError} 404. */
  show(sessionId: string, replayId: string): Promise<Replay>;
  /** Default position: now, or the end of the recording. @throws {ServiceError} 404; 409 when there are too many. */
  mark(sessionId: string, replayId: string, mark: MarkReplay): Promise<ReplayMark>;
  /** Returns `going` while the file grows. @throws {ServiceError} 404. */
  find(sessionId: string, replayId: string): Promise<{ readonly going: boolean }>;
  /** Limits the time for copying the remaining film. @param replayId - default: all recordings of the session. */
  noteStop(sessionId: string, replayId?: string): void;
  /** `undefined` = not complete in time. @throws {ServiceError} 404, also without a film. */
  film(sessionId: string, replayId: string): Promise<{ readonly path: string; readonly sizeBytes: number } | undefined>;
  /** Returns the complete file; `undefined` while it grows. @throws {ServiceError} 404, also without a film. */
  read(
    sessionId: string,
    replayId: string,
  ): Promise<{ readonly stream: Readable; readonly sizeBytes: number } | undefined>;
  /**
   * Waits a few seconds for the files. Call it before stopping the instance. Never rejects. `undefined` = no
   * recordings.
   */
  finish(sessionId: string, instance: Instance): Promise<void> | undefined;
  /** By project. */
  usedBytes(): Promise<ReadonlyMap<string, number>>;
  /** Deletes recordings after their retention. @returns their number. */
  sweep(nowMs?: number): Promise<number>;
}

export interface ReplayStoreOptions {
  readonly directory: string;
  readonly retentionDays: number;
  readonly quota: ReplayQuota;
  readonly log: Log;
}

const dayMs = 24 * 60 * 60 * 1000;
const finishTimeoutMs = 5_000;
const stopTimeoutMs = 30_000;
const maxClockDifferenceMs = 60_000;
const chunkBytes = 256 * 1024;
const maxMarks = 500;

interface Going extends RunningRecording {
  readonly id: string;
  readonly done: Promise<void>;
  readonly cut: AbortController;
  isStopping: boolean;
}

export function createReplayStore(options: ReplayStoreOptions): ReplayStore {
  return new FileReplayStore(options);
}

class FileReplayStore implements ReplayStore {
  readonly retentionDays: number;
  readonly #files: ReplayFiles;
  readonly #limits: RecordingLimits;
  readonly #log: Log;
  readonly #going = new Map<string, Going>();
  #measured: Promise<void> | undefined;

  constructor({ directory, retentionDays, quota, log }: ReplayStoreOptions) {
    this.retentionDays = retentionDays;
    this.#files = new ReplayFiles(directory);
    this.#limits = new RecordingLimits(quota);
    this.#log = log;
  }

  async admit(session: RecordedSession): Promise<void> {
    await (this.#measured ??= this.#measure());
    if ((await this.#files.ids(session.id)).length >= maxRecordingsPerSession)
      throw new ServiceError(
        409,
        "conflict",
        `This session has ${String(maxRecordingsPerSession)} recordings, the limit.`,
        { limit: maxRecordingsPerSession, hint: "Record in another session." },
      );
    this.#limits.admit(session, this.#going.values());
  }

  async keep(session: RecordedSession, instance: Instance, replay: Replay): Promise<void> {
    const { replay_id: id } = replay;
    const key = keyOf(session.id, id);
    // A repeated request.
    if (this.#going.has(key) || (await this.#load(session.id, id)) !== undefined) return;
    await this.admit(session);
    const cut = new AbortController();
    const kept: Replay = { ...replay, started_at: startedAt(replay.started_at) };
    // Count before the first await: other recordings may be admitted meanwhile.
    const done = this.#follow({ session, instance, replay: kept, cut });
    this.#going.set(key, { session, id, done, cut, isStopping: false });
    await done.begun;
  }

  async list(sessionId: string): Promise<Replay[]> {
    const found = await Promise.all((await this.#files.ids(sessionId)).map((id) => this.#load(sessionId, id)));
    const startOf = ({ started_at }: Replay): number => (typeof started_at === "string" ? Date.parse(started_at) : 0);
    return found.filter((replay) => replay !== undefined).sort((a, b) => startOf(a) - startOf(b));
  }

  async show(sessionId: string, replayId: string): Promise<Replay> {
    const replay = isReplayId(replayId) ? await this.#load(sessionId, replayId) : undefined;
    if (replay === undefined)
      throw new ServiceError(
        404,
        "not_found",
        `Browser ${sessionId} has no recording ${replayId.slice(0, 100)}; recordings are deleted ${String(this.retentionDays)} days after their end (replay_retention_days).`,
        { hint: "List recordings with browsers.replays.list." },
      );
    return replay;
  }

  async mark(sessionId: string, replayId: string, { title, offset_seconds }: MarkReplay): Promise<ReplayMark> {
    const { started_at, finished_at } = await this.show(sessionId, replayId);
    const endMs = finished_at == null ? Date.now() : Date.parse(finished_at);
    const lengthSeconds = started_at == null ? 0 : Math.max(0, endMs - Date.parse(started_at)) / 1000;
    // Marks must be before the end of a film, unless it is still growing.
    const mark = {
      title,
      offset_seconds:
        offset_seconds === undefined || (finished_at != null && offset_seconds > lengthSeconds)
          ? lengthSeconds
          : offset_seconds,
    };
    await this.#files.change(sessionId, replayId, (present) => {
      const { marks = [] } = present;
      if (marks.length >= maxMarks)
        throw new ServiceError(409, "conflict", `This recording has ${String(maxMarks)} marks, the limit.`);
      return { ...present, marks: [...marks, mark].sort((a, b) => a.offset_seconds - b.offset_seconds) };
    });
    return mark;
  }

  async find(sessionId: string, replayId: string): Promise<{ readonly going: boolean }> {
    await this.show(sessionId, replayId);
    return { going: this.#going.has(keyOf(sessionId, replayId)) };
  }

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

  async film(
    sessionId: string,
    replayId: string,
  ): Promise<{ readonly path: string; readonly sizeBytes: number } | undefined> {
    const { failure_reason } = await this.show(sessionId, replayId);
    if (this.#going.has(keyOf(sessionId, replayId))) return undefined;
    const path = this.#files.filmOf(sessionId, replayId);
    if (!(await isPlayable(path)))
      throw new ServiceError(
        404,
        "not_found",
        `Recording ${replayId} failed: ${failure_reason ?? "no film was saved."}`,
        { hint: "Record again." },
      );
    return { path, sizeBytes: (await stat(path)).size };
  }

  async read(
    sessionId: string,
    replayId: string,
  ): Promise<{ readonly stream: Readable; readonly sizeBytes: number } | undefined> {
    const film = await this.film(sessionId, replayId);
    return film && { stream: createReadStream(film.path, { highWaterMark: chunkBytes }), sizeBytes: film.sizeBytes };
  }

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

  async usedBytes(): Promise<ReadonlyMap<string, number>> {
    await (this.#measured ??= this.#measure());
    return this.#limits.usedBytes;
  }

  async sweep(nowMs = Date.now()): Promise<number> {
    await (this.#measured ??= this.#measure());
    let removed = 0;
    for (const sessionId of await this.#files.sessions()) {
      for (const { replay_id: id, finished_at } of await this.list(sessionId)) {
        if (typeof finished_at !== "string" || nowMs - Date.parse(finished_at) <= this.retentionDays * dayMs) continue;
        await this.#remove(sessionId, id);
        removed++;
      }
      const folder = this.#files.folderOf(sessionId);
      const left = await readdir(folder).catch(() => [sessionId]);
      if (left.length === 0) await rm(folder, { recursive: true, force: true });
    }
    return removed;
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
      .finally(() => this.#going.delete(keyOf(session.id, id)));
    return Object.assign(done, { begun });
  }

  async #begin(session: RecordedSession, replay: Replay): Promise<void> {
    await mkdir(this.#files.folderOf(session.id), { recursive: true, mode: 0o700 });
    await writeFile(this.#files.filmOf(session.id, replay.replay_id), "", { mode: 0o600 });
    await this.#files.write(session.id, { replay, projectId: session.projectId });
  }

  async #load(sessionId: string, id: string): Promise<Replay | undefined> {
    const described = await this.#files.read(sessionId, id);
    if (described === undefined) return undefined;
    const { replay } = described;
    if (typeof replay.finished_at === "string" || this.#going.has(keyOf(sessionId, id))) return replay;
    // This server was killed during the recording.
    const path = this.#files.filmOf(sessionId, id);
    const { mtime } = await stat(path);
    return {
      ...replay,
      finished_at: mtime.toISOString(),
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
