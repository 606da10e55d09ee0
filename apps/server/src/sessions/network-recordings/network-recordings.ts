import type { Page } from "@shoal/contract";
import { networkRecordingNotFound } from "@shoal/contract/refusals";
import type { Database, Tables } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import type { BrowserReplay, ListNetworkRecordings, NetworkRecording } from "@shoal/schemas";
import { sql, type Updateable } from "kysely";
import pLimit from "p-limit";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import type * as z from "zod/mini";
import { isStorable, newestFirst, toPage } from "../../http/paging.ts";
import type { Log } from "../../log/log.ts";
import { type Blobs, sweepBlobs } from "../../storage/blobs/blobs.ts";
import { type KeysOfStream, openRange, openStream, sealStream } from "../../storage/blobs/sealed-stream.ts";
import type { Secrets } from "../../storage/secrets.ts";
import { Player } from "./player.ts";
import { indexRecording } from "./recorded-index.ts";
import { Recorder, type RecordingLimits, usualRecordingLimits } from "./recorder.ts";
import { columnsOf, isRunning, type RecordingRow as Row, shown } from "./recording-row.ts";
import { SharedRecordings } from "./shared-recordings.ts";

interface Recorded {
  readonly id: string;
  readonly projectId: string;
  readonly sessionId: string;
  /** Of `Math.random`. */
  readonly seed?: number | undefined;
}

interface Running extends Recorded {
  /** Absent: an earlier run of this server recorded it. */
  readonly recorder?: Recorder;
  /** Resolves when the sealed file is complete. */
  readonly written: Promise<void>;
  /** After the end of the session: resolves when the row is complete. */
  stored?: Promise<void>;
}

export interface NetworkRecordingsParts {
  readonly database: Database;
  readonly blobs: Blobs;
  readonly secrets: Pick<Secrets, "keysOfStream">;
  /** Of sealed files of running sessions. */
  readonly folder: string;
  readonly serverId: string;
  readonly retentionDays: number;
  /** Of one project. */
  readonly quota: { readonly maxRunning: number; readonly maxBytes: number };
  readonly limits?: RecordingLimits;
  readonly log: Log;
}

const dayMs = 86_400_000;
/** A server has this time to store the recording after the end of its session. */
const storingMs = 60 * 60 * 1000;
/** An outage of the store or the database may take this time. */
const repeatedMs = storingMs / 2;
/** The next start of the server stores the other recordings. */
const closeMs = 20_000;
/** A replay waits this time for a recording that is being stored. */
const storedSoonMs = 10_000;

/** Records the network of sessions: a sealed file while the session runs, then a blob with a row. */
export class NetworkRecordings {
  readonly #parts: NetworkRecordingsParts;
  /** By session. */
  readonly #running = new Map<string, Running>();
  /** Have a place in the limit, and no file yet. */
  readonly #starting = new Set<Recorded>();
  readonly #shared = new SharedRecordings();
  readonly #stopping = new AbortController();
  readonly #fewAtOnce = pLimit(4);

  constructor(parts: NetworkRecordingsParts) {
    this.#parts = parts;
  }

  /** Starts the recording of a new session. @throws {ServiceError} 409 or 507 at a limit of the project. */
  async start(of: Recorded): Promise<Recorder> {
    this.#requirePlace(of.projectId);
    this.#starting.add(of);
    return this.#start(of).catch((error: unknown) => {
      this.#starting.delete(of);
      throw error;
    });
  }

  async #start(of: Recorded): Promise<Recorder> {
    const { database, folder, limits = usualRecordingLimits, log, serverId } = this.#parts;
    await this.#requireBytes(of.projectId);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await database.query
      .insertInto("network_recordings")
      .values({
        ...{ id: of.id, project_id: of.projectId, session_id: of.sessionId, seed: of.seed ?? null },
        server_id: serverId,
        created_at: new Date(),
      })
      .execute();
    const frames = new PassThrough();
    const file = createWriteStream(this.#path(of.id), { flags: "wx", mode: 0o600, flush: true });
    const written = pipeline(frames, (source) => sealStream(source as AsyncIterable<Buffer>, this.#keysOf(of)), file);
    // Reported when the session ends.
    written.catch((error: unknown) => {
      log.warn({ session_id: of.sessionId, err: error }, "the network of a session is not recorded any more");
    });
    const recorder = new Recorder(frames, limits);
    // In one step, so that it never counts twice.
    this.#starting.delete(of);
    this.#running.set(of.sessionId, { ...of, recorder, written });
    return recorder;
  }

  /** Removes the recording of a session that did not start. */
  async drop(sessionId: string): Promise<void> {
    const running = this.#running.get(sessionId);
    if (running === undefined || running.stored !== undefined) return;
    running.recorder?.close();
    await running.written.catch(() => undefined);
    this.#running.delete(sessionId);
    await rm(this.#path(running.id), { force: true });
    await this.#parts.database.query.deleteFrom("network_recordings").where("id", "=", running.id).execute();
  }

  /** Ends the recording of an ended session, if it has one, and stores it in the background. Never rejects. */
  async finish(sessionId: string): Promise<void> {
    const running = this.#running.get(sessionId);
    if (running === undefined) return;
    this.#storeSoon(running);
    await running.written.catch(() => undefined);
  }

  #storeSoon(running: Running): void {
    running.stored ??= this.#store(running).finally(() => this.#running.delete(running.sessionId));
  }

  async #store({ id, recorder, sessionId, written }: Running): Promise<void> {
    const { log, retentionDays } = this.#parts;
    recorder?.close();
    const failed = (error: unknown): void => {
      log.error({ session_id: sessionId, recording_id: id, err: error }, "the recording of a network was not stored");
    };
    const isWritten = await written.then(
      () => true,
      (error: unknown) => {
        failed(error);
        return false;
      },
    );
    const totals = recorder && columnsOf(recorder.totals);
    // With its totals in the row, the next start of the server can store the file.
    const isReady = isWritten && (await this.#repeat(() => this.#update(id, totals ?? {}), failed)) !== undefined;
    const put = isReady ? await this.#repeat(() => this.#put(id), failed) : undefined;
    if (isWritten && put === undefined && this.#stopping.signal.aborted) return;
    const blob = put?.result ?? null;
    const now = Date.now();
    const times = { finished_at: new Date(now), expires_at: new Date(now + retentionDays * dayMs) };
    // The file is removed last, so that no failed write loses it.
    if ((await this.#repeat(() => this.#update(id, { blob, ...totals, ...times }), failed)) !== undefined)
      await rm(this.#path(id), { force: true }).catch(failed);
  }

  async #put(id: string): Promise<string> {
    const { blobs, limits: { bytes } = usualRecordingLimits } = this.#parts;
    return this.#fewAtOnce(async () => {
      this.#stopping.signal.throwIfAborted();
      const file = createReadStream(this.#path(id), { signal: this.#stopping.signal });
      // The store gets the error too, but may begin to read later.
      file.on("error", () => undefined);
      return (await blobs.put(file, { maxBytes: bytes * 2 + 2 ** 20 })).name;
    });
  }

  async #update(id: string, values: Updateable<Tables["network_recordings"]>): Promise<void> {
    if (Object.keys(values).length === 0) return;
    await this.#parts.database.query.updateTable("network_recordings").set(values).where("id", "=", id).execute();
  }

  /** Repeats a step during an outage. @returns `undefined` if it did not succeed. */
  async #repeat<Result>(
    step: () => Promise<Result>,
    failed: (error: unknown) => void,
  ): Promise<{ readonly result: Result } | undefined> {
    const { signal } = this.#stopping;
    const endsMs = performance.now() + repeatedMs;
    for (let waitMs = 200; ; waitMs = Math.min(waitMs * 2, 60_000)) {
      try {
        return { result: await step() };
      } catch (error) {
        failed(error);
      }
      if (performance.now() + waitMs > endsMs) return undefined;
      await delay(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return undefined;
    }
  }

  #runningOf(projectId: string): readonly Running[] {
    return [...this.#running.values()].filter((each) => each.projectId === projectId && each.stored === undefined);
  }

  /** Synchronous: starts at the same time share the limit. */
  #requirePlace(projectId: string): void {
    const { maxRunning } = this.#parts.quota;
    const starting = [...this.#starting].filter((each) => each.projectId === projectId);
    if (this.#runningOf(projectId).length + starting.length < maxRunning) return;
    throw new ServiceError(
      409,
      "conflict",
      `This project has ${String(maxRunning)} running network recordings on this server, the limit (replay_max_running).`,
      { limit: maxRunning, field: "body.recording", hint: "End one of its browsers with browsers.delete." },
    );
  }

  async #requireBytes(projectId: string): Promise<void> {
    const { database, quota } = this.#parts;
    const stored = await database.query
      .selectFrom("network_recordings")
      .select(({ fn }) => fn.coalesce(fn.sum<string>("size_bytes"), sql<string>`0`).as("bytes"))
      .where("project_id", "=", projectId)
      .executeTakeFirstOrThrow();
    const running = this.#runningOf(projectId);
    const bytes = running.reduce((sum, { recorder }) => sum + (recorder?.totals.sizeBytes ?? 0), Number(stored.bytes));
    if (bytes >= quota.maxBytes)
      throw new ServiceError(
        507,
        "insufficient_storage",
        `The network recordings of this project use ${String(quota.maxBytes / 2 ** 30)} GiB, the limit (replay_max_gib).`,
        { field: "body.recording", hint: "Delete some with networkRecordings.delete, or raise the limit." },
      );
  }

  async list(
    projectId: string,
    { session_id, ...window }: z.output<typeof ListNetworkRecordings>,
  ): Promise<Page<NetworkRecording>> {
    let rows = this.#rows(projectId);
    if (session_id !== undefined) {
      if (!isStorable(session_id)) return toPage([], window, shown);
      rows = rows.where("session_id", "=", session_id);
    }
    return toPage(await newestFirst(rows, window).execute(), window, shown);
  }

  async get(projectId: string, id: string): Promise<NetworkRecording> {
    return shown(await this.#find(projectId, id));
  }

  async delete(projectId: string, id: string): Promise<void> {
    const row = await this.#find(projectId, id);
    if (row.finished_at === null) throw isRunning(row, "deleted");
    const { blobs, database } = this.#parts;
    await database.query.deleteFrom("network_recordings").where("id", "=", id).execute();
    this.#shared.forget(id);
    // The sweep removes an object that remains.
    if (row.blob !== null) await blobs.delete(row.blob).catch(() => undefined);
  }

  /** @throws {ServiceError} 404; 409 for a recording that is not complete. */
  async player(projectId: string, replay: BrowserReplay, signal: AbortSignal): Promise<Player> {
    const { recording: id } = replay;
    await this.#storedHere(projectId, id, signal);
    const row = await this.#find(projectId, id, "body.replay.recording");
    if (row.finished_at === null) throw isRunning(row, "replayed");
    const name = row.blob;
    if (name === null)
      throw new ServiceError(409, "conflict", `Network recording ${id} failed: it was not stored.`, {
        field: "body.replay.recording",
        hint: "Record again.",
      });
    const keyOf = this.#keysOf({ id, projectId });
    signal.throwIfAborted();
    const recorded = await this.#shared.get(id, async () => {
      const stream = await this.#blob(row, name);
      try {
        return await indexRecording(openStream(stream as AsyncIterable<Buffer>, keyOf));
      } finally {
        stream.destroy();
      }
    });
    const open = (start: number, end: number): Promise<Readable> =>
      this.#blob(row, name, { start, end }, () => (recorded.isGone = true));
    const read = (start: number, end: number) => openRange(open, { sizeBytes: row.size_bytes, start, end }, keyOf);
    return new Player({ replay, recorded, row, read });
  }

  /** Deletes expired recordings, marks lost ones, and removes blobs without a row. */
  async clean(): Promise<void> {
    const { blobs, database } = this.#parts;
    const dropped = await database.query
      .deleteFrom("network_recordings")
      .where("expires_at", "<", sql<string>`clock_timestamp()`)
      .returning(["blob", "id"])
      .execute();
    for (const { blob, id } of dropped) {
      this.#shared.forget(id);
      if (blob !== null) await blobs.delete(blob);
    }
    await this.#lose(
      sql<boolean>`not exists (select 1 from sessions where sessions.id = session_id and
        (ended_at is null or ended_at > clock_timestamp() - make_interval(secs => ${storingMs / 1000})))`,
    );
    await sweepBlobs(blobs, async (names) => {
      const rows = await database.query
        .selectFrom("network_recordings")
        .select("blob")
        .where("blob", "in", [...names])
        .execute();
      return new Set(rows.flatMap(({ blob }) => blob ?? []));
    });
  }

  /**
   * Stores complete files of an earlier run of this server in the background, and removes the others. Call it before
   * sessions start.
   */
  async recover(): Promise<void> {
    const { database, folder, serverId } = this.#parts;
    const left = new Set(await readdir(folder).catch(() => []));
    const rows = await database.query
      .selectFrom("network_recordings")
      .select(["id", "project_id", "session_id"])
      .where("server_id", "=", serverId)
      .where("finished_at", "is", null)
      // Rows get their size after the file is complete.
      .where("size_bytes", ">", 0)
      .execute();
    for (const { id, project_id: projectId, session_id: sessionId } of rows) {
      if (!left.delete(id)) continue;
      const running: Running = { id, projectId, sessionId, written: Promise.resolve() };
      this.#running.set(sessionId, running);
      this.#storeSoon(running);
    }
    for (const name of left) await rm(join(folder, name), { force: true });
    await this.#lose(sql<boolean>`server_id = ${serverId}`);
  }

  /** Resolves when the recordings of all ended sessions are stored, or after a limit. The next start stores the others. */
  async settled(limitMs = closeMs): Promise<void> {
    const all = Promise.all([...this.#running.values()].flatMap(({ stored }) => stored ?? []));
    await Promise.race([all, delay(limitMs, undefined, { ref: false })]);
    this.#stopping.abort(new Error("The server stops."));
  }

  /** Except recordings that this server stores. */
  async #lose(which: ReturnType<typeof sql<boolean>>): Promise<void> {
    const now = Date.now();
    const own = [...this.#running.values()].map(({ id }) => id);
    await this.#parts.database.query
      .updateTable("network_recordings")
      .set({ finished_at: new Date(now), expires_at: new Date(now + this.#parts.retentionDays * dayMs) })
      .where("finished_at", "is", null)
      .where(which)
      .$if(own.length > 0, (rows) => rows.where("id", "not in", own))
      .execute();
  }

  /** The session may just have ended on this server. */
  async #storedHere(projectId: string, id: string, signal: AbortSignal): Promise<void> {
    const running = [...this.#running.values()].find((each) => each.id === id && each.projectId === projectId);
    if (running?.stored === undefined) return;
    await Promise.race([running.stored, delay(storedSoonMs, undefined, { signal, ref: false })]);
  }

  async #blob(
    { id, project_id: projectId }: Row,
    name: string,
    range?: { readonly start: number; readonly end: number },
    onMissing?: () => void,
  ): Promise<Readable> {
    const { blobs } = this.#parts;
    const found = await blobs.get(name, range);
    if (found !== undefined) return found.stream;
    onMissing?.();
    await this.#find(projectId, id, "body.replay.recording");
    throw new ServiceError(500, "internal_error", `Network recording ${id} is not ${blobs.place}`);
  }

  async #find(projectId: string, id: string, field?: string): Promise<Row> {
    const row = isStorable(id) ? await this.#rows(projectId).where("id", "=", id).executeTakeFirst() : undefined;
    if (row === undefined) throw ServiceError.of({ ...networkRecordingNotFound(id), field });
    return row;
  }

  #rows(projectId: string) {
    return this.#parts.database.query.selectFrom("network_recordings").selectAll().where("project_id", "=", projectId);
  }

  #path(id: string): string {
    return join(this.#parts.folder, id);
  }

  #keysOf({ id, projectId }: Pick<Recorded, "id" | "projectId">): KeysOfStream {
    return (salt) => this.#parts.secrets.keysOfStream(salt, `network recording ${projectId}/${id}`);
  }
}
