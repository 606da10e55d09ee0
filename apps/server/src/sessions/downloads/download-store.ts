import type { Instance } from "@shoal/placement";
import { BrowserDownload } from "@shoal/schemas";
import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import pLimit from "p-limit";
import pTimeout from "p-timeout";
import type { Log } from "../../log/log.ts";
import { BlobTooLarge } from "../../storage/blobs/measured-content.ts";
import type { SessionFile, SessionFiles } from "../../storage/session-files/session-files.ts";
import type { Secrets } from "../../storage/secrets.ts";
import { describeDownload, eachDownload, openDownload } from "./instance-downloads.ts";
import { isDownloadId, KeptFiles, type KeptOf } from "./kept-files.ts";

export interface DownloadStoreOptions {
  readonly directory: string;
  /** Hours after the end of a session; 0 = none are kept. */
  readonly retentionHours: number;
  /** Per project. */
  readonly maxBytes: number;
  readonly secrets: Pick<Secrets, "keysOfStream" | "seal" | "unsealStored">;
  /** Downloads in the store; absent: all remain in the directory. */
  readonly stored?: SessionFiles;
  readonly log: Log;
}

const kind = "download";
const hourMs = 60 * 60 * 1000;
/** Longest wait for copies at the end of a session. */
const finishTimeoutMs = 10_000;
/** As many as an instance lists. */
const maxKeptPerSession = 1_000;

interface Keeping {
  readonly of: KeptOf;
  readonly instance: Instance;
  /** Ids of copied downloads and of running copies. */
  readonly ids: Set<string>;
  readonly pending: Set<Promise<void>>;
  readonly turns: ReturnType<typeof pLimit>;
  /** Absent before the end of the session. */
  finished?: Promise<void>;
}

/** Copies finished downloads while their session runs, so that they outlive it and its crash. */
export class DownloadStore {
  readonly retentionHours: number;
  readonly #files: KeptFiles;
  readonly #maxBytes: number;
  readonly #stored: SessionFiles | undefined;
  readonly #log: Log;
  readonly #running = new Map<string, Keeping>();
  /** Their sessions are over. */
  readonly #finished = new WeakSet<Instance>();
  readonly #used = new Map<string, number>();
  #measured: Promise<void> | undefined;

  constructor({ directory, retentionHours, maxBytes, secrets, stored, log }: DownloadStoreOptions) {
    this.retentionHours = retentionHours;
    this.#files = new KeptFiles(directory, secrets);
    this.#maxBytes = maxBytes;
    this.#stored = stored;
    this.#log = log;
  }

  /** By project. */
  async usedBytes(): Promise<ReadonlyMap<string, number>> {
    await (this.#measured ??= this.#measure());
    return this.#used;
  }

  /** Copies a finished download. After `finish`, does nothing. */
  keep(of: KeptOf, instance: Instance, downloadId: string): void {
    if (this.keepsAny && !this.#finished.has(instance)) this.#begin(this.#keepingOf(of, instance), downloadId);
  }

  /**
   * Waits a few seconds for the copies of all downloads. Call it before stopping the instance. Never rejects.
   * `undefined` = none are kept.
   */
  finish(of: KeptOf, instance: Instance): Promise<void> | undefined {
    if (!this.keepsAny) return undefined;
    const { sessionId } = of;
    const keeping = this.#keepingOf(of, instance);
    const copied = this.#finish(keeping).catch(async (error: unknown) => {
      const level = (await hasEnded(instance)) ? "debug" : "warn";
      this.#log[level]({ session_id: sessionId, err: error }, "the last downloads of a session could not be kept");
    });
    keeping.finished = pTimeout(copied, { milliseconds: finishTimeoutMs, fallback: () => undefined }).then(() => {
      this.#running.delete(sessionId);
      this.#finished.add(instance);
    });
    return keeping.finished;
  }

  /** In the order of their ends. At the end of a session, it waits for the last copies. */
  async list(of: KeptOf): Promise<BrowserDownload[]> {
    await this.#running.get(of.sessionId)?.finished;
    const local = await Promise.all((await this.#files.ids(of)).map((id) => this.#files.describe(of, id)));
    // After the local ones: a download moves to the store.
    const stored = (await this.#stored?.list(of.sessionId, kind))?.map(storedDownload) ?? [];
    const found = new Map(
      [...stored, ...local].flatMap((download) => (download ? [[download.download_id, download]] : [])),
    );
    const endOf = ({ finished_at, started_at }: BrowserDownload) => Date.parse(finished_at ?? started_at);
    return [...found.values()].sort((a, b) => endOf(a) - endOf(b));
  }

  async find(of: KeptOf, id: string): Promise<BrowserDownload | undefined> {
    if (!isDownloadId(id)) return undefined;
    await this.#running.get(of.sessionId)?.finished;
    const local = await this.#files.describe(of, id);
    if (local !== undefined || this.#stored === undefined) return local;
    const file = await this.#stored.find(of.sessionId, kind, id);
    return file && storedDownload(file);
  }

  async read(of: KeptOf, { download_id: id }: BrowserDownload): Promise<Readable> {
    if (this.#stored === undefined || (await this.#files.describe(of, id)) !== undefined)
      return this.#files.read(of, id);
    const file = await this.#stored.find(of.sessionId, kind, id);
    return file?.isStored === true && file.sizeBytes > 0 ? this.#stored.read(file) : Readable.from([]);
  }

  async localSessions(): Promise<readonly string[]> {
    return (await this.#files.folders()).map(({ sessionId }) => sessionId);
  }

  async hasLocal(of: KeptOf): Promise<boolean> {
    return (await this.#files.ids(of)).length > 0;
  }

  /** Whether a session may leave downloads on this server. */
  get keepsAny(): boolean {
    return this.retentionHours > 0;
  }

  /** Uploads the downloads of an ended session to the store, and removes them here. */
  async store(of: KeptOf, isOver: boolean, signal: AbortSignal): Promise<void> {
    if (this.#stored === undefined || !isOver || this.#running.has(of.sessionId)) return;
    await (this.#measured ??= this.#measure());
    const keptFrom = new Date(await this.#files.changedMs(of));
    const unreadable: string[] = [];
    const uploaded: string[] = [];
    for (const id of await this.#files.ids(of)) {
      const download = await this.#files.describe(of, id);
      if (download === undefined) {
        unreadable.push(id);
        continue;
      }
      const sizeBytes = download.path === null ? 0 : (download.size_bytes ?? 0);
      const read = (start: number, end: number) => this.#files.readRange(of, id, { sizeBytes, start, end });
      const ref = { ...of, kind, name: id } as const;
      await this.#stored.upload(ref, { sizeBytes, keptFrom, read }, signal);
      await this.#stored.complete(ref, { sizeBytes, keptFrom }, download);
      uploaded.push(id);
    }
    const before = await this.#files.usedBytes(of);
    // An operator may add the earlier secret later.
    if (unreadable.length > 0) {
      await this.#files.removeSome(of, uploaded, keptFrom);
      this.#log.warn(
        { session_id: of.sessionId, downloads: unreadable.length },
        "kept downloads cannot be decrypted, and stay in the data folder until their retention ends: if secret_key has changed, set the earlier one as previous_secret_keys",
      );
    } else await this.#files.remove(of);
    this.#count(of.projectId, (await this.#files.usedBytes(of)) - before);
  }

  /** Deletes downloads after their retention. @returns the number of sessions. */
  async sweep(nowMs = Date.now()): Promise<number> {
    await (this.#measured ??= this.#measure());
    let removed = 0;
    for (const of of await this.#files.folders()) {
      if (this.#running.has(of.sessionId)) continue;
      if (nowMs - (await this.#files.changedMs(of)) <= this.retentionHours * hourMs) continue;
      this.#count(of.projectId, -(await this.#files.usedBytes(of)));
      await this.#files.remove(of);
      removed++;
    }
    return removed;
  }

  #keepingOf(of: KeptOf, instance: Instance): Keeping {
    const keeping = this.#running.get(of.sessionId) ?? {
      of,
      instance,
      ids: new Set<string>(),
      pending: new Set<Promise<void>>(),
      turns: pLimit(2),
    };
    this.#running.set(of.sessionId, keeping);
    return keeping;
  }

  async #finish(keeping: Keeping): Promise<void> {
    const { instance } = keeping;
    // An ended instance cannot answer, and a question would wake a sleeping one.
    if (instance.sleep.asleepSinceMs === undefined && !(await hasEnded(instance)))
      // The event of a download may arrive after the end of its session, and those of a burst may be missing.
      for await (const { download_id, finished_at } of eachDownload(instance, maxKeptPerSession))
        if (finished_at !== null) this.#begin(keeping, download_id);
    await Promise.all(keeping.pending);
    await this.#files.touch(keeping.of);
  }

  #begin(keeping: Keeping, id: string): void {
    const { ids, of, pending, turns } = keeping;
    if (!isDownloadId(id) || ids.has(id) || ids.size >= maxKeptPerSession) return;
    ids.add(id);
    const copied = turns(() => this.#copy(keeping, id))
      .catch((error: unknown) => {
        this.#log.warn({ session_id: of.sessionId, download_id: id, err: error }, "a download could not be kept");
      })
      .finally(() => pending.delete(copied));
    pending.add(copied);
  }

  async #copy({ instance, of }: Keeping, id: string): Promise<void> {
    await (this.#measured ??= this.#measure());
    const download = await describeDownload(instance, id);
    if (download.finished_at === null) return;
    if (download.path === null) {
      await this.#describe(of, download);
      return;
    }
    const stored = (await this.#stored?.usedBytes(of.projectId, kind)) ?? 0;
    const maxBytes = Math.max(0, this.#maxBytes - stored);
    const copied = { bytes: 0 };
    const content = Readable.from(this.#counted(of.projectId, await openDownload(instance, id), { maxBytes, copied }), {
      objectMode: false,
    });
    const { sha256, sizeBytes, storedBytes } = await this.#files
      .store(of, id, content, maxBytes)
      .catch((error: unknown) => {
        this.#count(of.projectId, -copied.bytes);
        throw error;
      });
    this.#count(of.projectId, storedBytes - copied.bytes);
    // The file may have changed since the instance read it.
    await this.#describe(of, { ...download, size_bytes: sizeBytes, received_bytes: sizeBytes, sha256 });
  }

  /** Counts bytes as they arrive, because several copies run at once. */
  async *#counted(
    projectId: string,
    content: Readable,
    { maxBytes, copied }: { readonly maxBytes: number; readonly copied: { bytes: number } },
  ): AsyncGenerator<Buffer, void, undefined> {
    for await (const chunk of content as AsyncIterable<Buffer>) {
      if ((this.#used.get(projectId) ?? 0) + chunk.length > maxBytes)
        throw new BlobTooLarge("The downloads of the project reached their limit (download_max_gib).");
      this.#count(projectId, chunk.length);
      copied.bytes += chunk.length;
      yield chunk;
    }
  }

  async #describe(of: KeptOf, download: BrowserDownload): Promise<void> {
    this.#count(of.projectId, await this.#files.write(of, download));
  }

  /** Counts files of earlier runs. */
  async #measure(): Promise<void> {
    for (const of of await this.#files.folders()) this.#count(of.projectId, await this.#files.usedBytes(of));
  }

  #count(projectId: string, bytes: number): void {
    this.#used.set(projectId, Math.max(0, (this.#used.get(projectId) ?? 0) + bytes));
  }
}

/** @returns `undefined` for a download that was not stored completely, or with another secret. */
function storedDownload({ description, isStored }: SessionFile): BrowserDownload | undefined {
  const download = BrowserDownload.safeParse(description);
  return isStored && download.success ? download.data : undefined;
}

async function hasEnded({ ended }: Instance): Promise<boolean> {
  return Promise.race([ended.then(() => true), setImmediate(false)]);
}
