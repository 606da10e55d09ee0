import { answerText, type Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import { type MarkReplay, Replay, type ReplayMark } from "@shoal/schemas";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { Transform, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Log } from "../log.ts";

/** Recordings of sessions, running and ended, in files of this server. */
export interface ReplayStore {
  readonly retentionDays: number;
  /**
   * Begins to keep a recording that has begun in an instance.
   *
   * @param replay - as the instance describes it.
   */
  keep(sessionId: string, instance: Instance, replay: Replay): Promise<void>;
  /** Those of one session, oldest first. */
  list(sessionId: string): Promise<Replay[]>;
  /** One of them. @throws {ServiceError} 404. */
  show(sessionId: string, replayId: string): Promise<Replay>;
  /** Begins a chapter, at the present moment or the recording's end when it is not said where. @throws {ServiceError} 404; 409 when there are too many. */
  mark(sessionId: string, replayId: string, mark: MarkReplay): Promise<ReplayMark>;
  /** `going` while its file grows. @throws {ServiceError} 404. */
  find(sessionId: string, replayId: string): Promise<{ readonly going: boolean; readonly path: string }>;
  /** The whole file; `undefined` while it grows. @throws {ServiceError} 404. */
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
  readonly log: Log;
}

const dayMs = 24 * 60 * 60 * 1000;
/** What runs in a box is not trusted: it ends its files before this, in bytes. */
const maxFileBytes = 2 * 2 ** 30 + 64 * 2 ** 20;
const finishTimeoutMs = 5_000;
const chunkBytes = 256 * 1024;
const maxMarks = 500;
/** Names files, so nothing else will do. */
const replayIdPattern = /^[0-9a-f]{24}$/;

interface Going {
  readonly sessionId: string;
  readonly id: string;
  readonly done: Promise<void>;
}

/** Whether a text can be the id of a recording. */
export function isReplayId(text: string): boolean {
  return replayIdPattern.test(text);
}

export function createReplayStore({ directory, retentionDays, log }: ReplayStoreOptions): ReplayStore {
  const going = new Map<string, Going>();
  const changing = new Map<string, Promise<void>>();
  const keyOf = (sessionId: string, id: string): string => `${sessionId}/${id}`;
  const pathOf = (sessionId: string, id: string, kind: "mp4" | "json"): string => join(directory, sessionId, `${id}.${kind}`);

  async function describe(sessionId: string, replay: Replay): Promise<void> {
    const path = pathOf(sessionId, replay.replay_id, "json");
    await writeFile(`${path}.new`, JSON.stringify(replay), { mode: 0o600 });
    await rename(`${path}.new`, path);
  }

  /** Changes what is written of a recording, one change after the other. */
  function change(sessionId: string, id: string, make: (present: Replay) => Replay): Promise<void> {
    const key = keyOf(sessionId, id);
    const changed = (changing.get(key) ?? Promise.resolve()).then(async () => {
      const present = await load(sessionId, id);
      if (present !== undefined) await describe(sessionId, make(present));
    });
    const settled = changed
      .catch(() => undefined)
      .finally(() => {
        if (changing.get(key) === settled) changing.delete(key);
      });
    changing.set(key, settled);
    return changed;
  }

  async function collect(sessionId: string, instance: Instance, replay: Replay): Promise<void> {
    const { replay_id: id } = replay;
    let answer: IncomingMessage | undefined;
    try {
      answer = await instance.request({ method: "GET", path: `/_instance/replays/${id}` });
      if (answer.statusCode !== 200) {
        answer.destroy();
        throw new Error(`The instance answered ${String(answer.statusCode)} to the reader of a recording.`);
      }
      await pipeline(answer, limit(maxFileBytes), createWriteStream(pathOf(sessionId, id, "mp4"), { flags: "a" }));
    } catch (error) {
      // An instance that is killed breaks off; the file plays as far as it goes.
      log.warn({ session_id: sessionId, replay_id: id, err: error }, "a recording broke off");
    }
    const said = answer?.trailers["x-finished-at"];
    const finished = said === undefined || Number.isNaN(Date.parse(said)) ? new Date() : new Date(said);
    await change(sessionId, id, (present) => ({ ...present, finished_at: finished.toISOString() })).catch((error: unknown) => {
      log.warn({ session_id: sessionId, replay_id: id, err: error }, "the end of a recording could not be noted");
    });
  }

  async function load(sessionId: string, id: string): Promise<Replay | undefined> {
    try {
      const replay = Replay.parse(JSON.parse(await readFile(pathOf(sessionId, id, "json"), "utf8")));
      if (typeof replay.finished_at === "string" || going.has(keyOf(sessionId, id))) return replay;
      // This server was killed while it went on.
      const { mtime } = await stat(pathOf(sessionId, id, "mp4"));
      return { ...replay, finished_at: mtime.toISOString() };
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error;
    }
  }

  async function idsOf(sessionId: string): Promise<string[]> {
    const names = await readdir(join(directory, sessionId)).catch(() => []);
    return names
      .filter((name) => name.endsWith(".json"))
      .map((name) => name.slice(0, -".json".length))
      .filter(isReplayId);
  }

  const store: ReplayStore = {
    retentionDays,
    async keep(sessionId, instance, replay) {
      const { replay_id: id } = replay;
      const key = keyOf(sessionId, id);
      // The answer to a repeated request.
      if (going.has(key) || (await load(sessionId, id)) !== undefined) return;
      await mkdir(join(directory, sessionId), { recursive: true, mode: 0o700 });
      await writeFile(pathOf(sessionId, id, "mp4"), "", { mode: 0o600 });
      await describe(sessionId, replay);
      const done = collect(sessionId, instance, replay).finally(() => going.delete(key));
      going.set(key, { sessionId, id, done });
    },
    async list(sessionId) {
      const found = await Promise.all((await idsOf(sessionId)).map((id) => load(sessionId, id)));
      const startOf = ({ started_at }: Replay): number => (typeof started_at === "string" ? Date.parse(started_at) : 0);
      return found.filter((replay) => replay !== undefined).sort((a, b) => startOf(a) - startOf(b));
    },
    async show(sessionId, replayId) {
      const replay = isReplayId(replayId) ? await load(sessionId, replayId) : undefined;
      if (replay === undefined)
        throw new ServiceError(
          404,
          "not_found",
          `Browser ${sessionId} has no recording ${replayId.slice(0, 100)}, or it was removed ${String(retentionDays)} days after its end (replay_retention_days). List them with browsers.replays.list.`,
        );
      return replay;
    },
    async mark(sessionId, replayId, { title, offset_seconds }) {
      const { started_at, finished_at } = await store.show(sessionId, replayId);
      const endMs = finished_at == null ? Date.now() : Date.parse(finished_at);
      const lengthSeconds = started_at == null ? 0 : Math.max(0, endMs - Date.parse(started_at)) / 1000;
      // Beyond the end of a film there is nothing to begin; one that goes on will get there.
      const mark = {
        title,
        offset_seconds: offset_seconds === undefined || (finished_at != null && offset_seconds > lengthSeconds) ? lengthSeconds : offset_seconds,
      };
      await change(sessionId, replayId, (present) => {
        const { marks = [] } = present;
        if (marks.length >= maxMarks) throw new ServiceError(409, "conflict", `This recording has ${String(maxMarks)} marks, the most there can be.`);
        return { ...present, marks: [...marks, mark].sort((a, b) => a.offset_seconds - b.offset_seconds) };
      });
      return mark;
    },
    async find(sessionId, replayId) {
      await store.show(sessionId, replayId);
      return { going: going.has(keyOf(sessionId, replayId)), path: pathOf(sessionId, replayId, "mp4") };
    },
    async read(sessionId, replayId) {
      const found = await store.find(sessionId, replayId);
      if (found.going) return undefined;
      const { size } = await stat(found.path);
      if (size === 0)
        throw new ServiceError(
          404,
          "not_found",
          `Nothing of recording ${replayId} could be kept: the session ended, or its disk was full, before the first piece was written. Record again.`,
        );
      return { stream: createReadStream(found.path, { highWaterMark: chunkBytes }), sizeBytes: size };
    },
    finish(sessionId, instance) {
      const own = [...going.values()].filter((one) => one.sessionId === sessionId);
      if (own.length === 0) return undefined;
      const timeout = AbortSignal.timeout(finishTimeoutMs);
      const timedOut = new Promise((resolve) => {
        timeout.addEventListener("abort", resolve);
      });
      const finished = own.map(async ({ id, done }) => {
        const answer = await instance.request({ method: "POST", path: `/replays/${id}/stop`, signal: timeout });
        await answerText(answer);
        await done;
      });
      return Promise.race([Promise.allSettled(finished), timedOut]).then(() => undefined);
    },
    async sweep(nowMs = Date.now()) {
      let removed = 0;
      for (const sessionId of await readdir(directory).catch(() => [])) {
        for (const { replay_id: id, finished_at } of await store.list(sessionId)) {
          if (typeof finished_at !== "string" || nowMs - Date.parse(finished_at) <= retentionDays * dayMs) continue;
          for (const kind of ["mp4", "json"] as const) await rm(pathOf(sessionId, id, kind), { force: true });
          removed++;
        }
        const left = await readdir(join(directory, sessionId)).catch(() => [sessionId]);
        if (left.length === 0) await rm(join(directory, sessionId), { recursive: true, force: true });
      }
      return removed;
    },
  };
  return store;
}

/** Fails when more comes. */
function limit(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) done(new Error("The recording is larger than any may be."));
      else done(null, chunk);
    },
  });
}
