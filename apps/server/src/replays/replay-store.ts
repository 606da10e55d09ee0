import { answerText, type Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { MarkReplay, Replay, ReplayMark } from "@shoal/schemas";
import { createReadStream } from "node:fs";
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { Log } from "../log.ts";
import { failureOf, followRecording } from "./follow-recording.ts";
import { isPlayable } from "./film.ts";
import { maxRecordingsPerSession, type RecordedSession, RecordingLimits, type ReplayQuota, type RunningRecording } from "./recording-limits.ts";
import { isReplayId, ReplayFiles } from "./replay-files.ts";

/** Recordings of sessions, running and ended, in files of this server. */
export interface ReplayStore {
  readonly retentionDays: number;
  /** Whether one more recording may begin. @throws {ServiceError} 409, 507. */
  admit(session: RecordedSession): Promise<void>;
  /**
   * Begins to keep a recording that has begun in an instance.
   *
   * @param replay - as the instance describes it.
   * @throws {ServiceError} 409, 507: what the instance does is not taken on trust.
   */
  keep(session: RecordedSession, instance: Instance, replay: Replay): Promise<void>;
  /** Those of one session, oldest first. */
  list(sessionId: string): Promise<Replay[]>;
  /** One of them. @throws {ServiceError} 404. */
  show(sessionId: string, replayId: string): Promise<Replay>;
  /** Begins a chapter, at the present moment or the recording's end when it is not said where. @throws {ServiceError} 404; 409 when there are too many. */
  mark(sessionId: string, replayId: string, mark: MarkReplay): Promise<ReplayMark>;
  /** `going` while its file grows. @throws {ServiceError} 404. */
  find(sessionId: string, replayId: string): Promise<{ readonly going: boolean }>;
  /** Notes that a recording was told to stop: it gets a moment to hand over the end of its film. @param replayId - every one of the session when absent. */
  noteStop(sessionId: string, replayId?: string): void;
  /** The file, once it grows no more; `undefined` before. @throws {ServiceError} 404, also when there is no film. */
  film(sessionId: string, replayId: string): Promise<{ readonly path: string; readonly sizeBytes: number } | undefined>;
  /** The whole file; `undefined` while it grows. @throws {ServiceError} 404, also when there is no film. */
  read(sessionId: string, replayId: string): Promise<{ readonly stream: Readable; readonly sizeBytes: number } | undefined>;
  /** Ends the recordings of a session and waits for their files, a few seconds at most. Called before the instance is stopped; never rejects. `undefined` when there are none. */
  finish(sessionId: string, instance: Instance): Promise<void> | undefined;
  /** Removes recordings that ended longer ago than they are kept. @returns how many there were. */
  sweep(nowMs?: number): Promise<number>;
}

export interface ReplayStoreOptions {
  /** Made when the first recording begins. */
  readonly directory: string;
  /** How long recordings are kept after their end. */
  readonly retentionDays: number;
  readonly quota: ReplayQuota;
  readonly log: Log;
}

const dayMs = 24 * 60 * 60 * 1000;
const finishTimeoutMs = 5_000;
/** How long a recording that was told to stop may take for the end of its film. */
const stopTimeoutMs = 30_000;
/** How far the clock of an instance may be from this one's. */
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
        `This session has made ${String(maxRecordingsPerSession)} recordings, the most there can be. Record in another session.`,
      );
    this.#limits.admit(session, this.#going.values());
  }

  async keep(session: RecordedSession, instance: Instance, replay: Replay): Promise<void> {
    const { replay_id: id } = replay;
    const key = keyOf(session.id, id);
    // The answer to a repeated request.
    if (this.#going.has(key) || (await this.#load(session.id, id)) !== undefined) return;
    await this.admit(session);
    const cut = new AbortController();
    const kept: Replay = { ...replay, started_at: startedAt(replay.started_at) };
    // Counted before anything else happens: others may be admitted meanwhile.
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
        `Browser ${sessionId} has no recording ${replayId.slice(0, 100)}, or it was removed ${String(this.retentionDays)} days after its end (replay_retention_days). List them with browsers.replays.list.`,
      );
    return replay;
  }

  async mark(sessionId: string, replayId: string, { title, offset_seconds }: MarkReplay): Promise<ReplayMark> {
    const { started_at, finished_at } = await this.show(sessionId, replayId);
    const endMs = finished_at == null ? Date.now() : Date.parse(finished_at);
    const lengthSeconds = started_at == null ? 0 : Math.max(0, endMs - Date.parse(started_at)) / 1000;
    // Beyond the end of a film there is nothing to begin; one that goes on will get there.
    const mark = {
      title,
      offset_seconds: offset_seconds === undefined || (finished_at != null && offset_seconds > lengthSeconds) ? lengthSeconds : offset_seconds,
    };
    await this.#files.change(sessionId, replayId, (present) => {
      const { marks = [] } = present;
      if (marks.length >= maxMarks) throw new ServiceError(409, "conflict", `This recording has ${String(maxMarks)} marks, the most there can be.`);
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
      if (going.session.id !== sessionId || (replayId !== undefined && going.id !== replayId) || going.isStopping) continue;
      going.isStopping = true;
      const timer = setTimeout(() => {
        going.cut.abort();
      }, stopTimeoutMs);
      void going.done.then(() => {
        clearTimeout(timer);
      });
    }
  }

  async film(sessionId: string, replayId: string): Promise<{ readonly path: string; readonly sizeBytes: number } | undefined> {
    const { failure_reason } = await this.show(sessionId, replayId);
    if (this.#going.has(keyOf(sessionId, replayId))) return undefined;
    const path = this.#files.filmOf(sessionId, replayId);
    if (!(await isPlayable(path)))
      throw new ServiceError(404, "not_found", `Recording ${replayId} failed: ${failure_reason ?? "there is no film."} Record again.`);
    return { path, sizeBytes: (await stat(path)).size };
  }

  async read(sessionId: string, replayId: string): Promise<{ readonly stream: Readable; readonly sizeBytes: number } | undefined> {
    const film = await this.film(sessionId, replayId);
    return film && { stream: createReadStream(film.path, { highWaterMark: chunkBytes }), sizeBytes: film.sizeBytes };
  }

  finish(sessionId: string, instance: Instance): Promise<void> | undefined {
    const own = [...this.#going.values()].filter(({ session }) => session.id === sessionId);
    if (own.length === 0) return undefined;
    const timeout = AbortSignal.timeout(finishTimeoutMs);
    const timedOut = new Promise((resolve) => {
      timeout.addEventListener("abort", resolve);
    });
    const finished = own.map(async ({ id, done }) => {
      await answerText(await instance.request({ method: "POST", path: `/replays/${id}/stop`, signal: timeout }));
      await done;
    });
    return Promise.race([Promise.allSettled(finished), timedOut]).then(() => undefined);
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

  /** Counts what an earlier run has left. */
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

  /** @returns resolves when the film grows no more; `begun`: when its files exist. Only that rejects. */
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
        const end = await followRecording({ session, instance, id, path, limits: this.#limits, signal: cut.signal, log: this.#log });
        await this.#files.change(session.id, id, (present) => ({ ...present, ...end }));
      })
      .catch((error: unknown) => {
        this.#log.warn({ session_id: session.id, replay_id: id, err: error }, "a recording could not be kept");
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
    // This server was killed while it went on.
    const path = this.#files.filmOf(sessionId, id);
    const { mtime } = await stat(path);
    return { ...replay, finished_at: mtime.toISOString(), ...(await failureOf(path, "The server was killed before the recording was complete.")) };
  }
}

function keyOf(sessionId: string, id: string): string {
  return `${sessionId}/${id}`;
}

/** When an instance says that a recording began, unless its clock cannot be right. */
function startedAt(said: string | null | undefined): string {
  const nowMs = Date.now();
  const saidMs = said == null ? Number.NaN : Date.parse(said);
  return new Date(Math.abs(saidMs - nowMs) <= maxClockDifferenceMs ? saidMs : nowMs).toISOString();
}
