import type { Database } from "@shoal/database";
import type { Log } from "../../log/log.ts";
import { Lookout } from "../../work/lookout.ts";
import { AwsFailure } from "./aws-failure.ts";
import { placeOf } from "./bucket-place.ts";
import type { BucketWriter } from "./bucket-writer.ts";
import type { DestinationRow, DestinationStore } from "./destination-store.ts";
import type { ExportObject, ExportObjects } from "./export-objects.ts";

export interface ExporterParts {
  readonly database: Pick<Database, "onChange">;
  /** Without leases from an earlier run of this server. */
  readonly store: DestinationStore;
  readonly objects: ExportObjects;
  readonly writer: BucketWriter;
  readonly everyMs: number;
  readonly log: Log;
}

const lookEveryMs = 5000;
const firstRetryMs = 15_000;
const maxRetryMs = 60 * 60_000;
const databaseRetryMs = 5000;

/** After consecutive failures: 15 s, 30 s, … 1 h. */
export function backoffMs(failures: number): number {
  return Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(20, Math.max(0, failures - 1)));
}

/** Writes each entry once to every active destination, with any number of servers. */
export class Exporter {
  readonly #everyMs: number;
  readonly #log: Log;
  readonly #objects: ExportObjects;
  readonly #store: DestinationStore;
  readonly #writer: BucketWriter;
  readonly #running = new Map<
    string,
    { readonly revision: number; readonly stop: AbortController; readonly done: Promise<void> }
  >();
  readonly #lookout: Lookout;
  readonly #forget: () => void;

  constructor({ database, everyMs, log, objects, store, writer }: ExporterParts) {
    this.#everyMs = everyMs;
    this.#log = log;
    this.#objects = objects;
    this.#store = store;
    this.#writer = writer;
    this.#forget = database.onChange((change) => {
      if (change === undefined) this.#lookout.look();
      else if (change.table === "audit_export_destinations") this.#changed(change.id);
    });
    this.#lookout = new Lookout({
      everyMs: Math.min(lookEveryMs, everyMs),
      look: () => this.#lookOnce(),
      log,
      problem: "cannot read the export destinations of the audit log",
    });
    this.#lookout.look();
  }

  /**
   * Aborts a write to a destination that was changed or deleted. @param revision - the current one; `undefined` =
   * deleted.
   */
  stop(id: string, revision: number | undefined): void {
    const active = this.#running.get(id);
    if (active !== undefined && active.revision !== revision) active.stop.abort();
  }

  /** Aborts running exports and waits for their end. */
  async close(): Promise<void> {
    this.#forget();
    await this.#lookout.close();
    const left = [...this.#running.values()];
    for (const { stop } of left) stop.abort();
    await Promise.all(left.map(({ done }) => done));
  }

  /** Returns the unfinished object of an earlier try, else the next object. */
  async #next(row: DestinationRow): Promise<ExportObject | undefined> {
    if (row.pending_first !== null && row.pending_last !== null && row.pending_name !== null) {
      const again = await this.#objects.again({
        first: row.pending_first,
        last: row.pending_last,
        name: row.pending_name,
      });
      if (again !== undefined) return again;
      this.#log.warn(
        { destination: row.id, first: row.pending_first, last: row.pending_last },
        "retention removed entries of the audit log; it is unknown whether they were exported",
      );
    }
    const object = await this.#objects.after(row.exported_sequence);
    if (object !== undefined && row.exported_sequence > 0 && object.first > row.exported_sequence + 1) {
      this.#log.warn(
        { destination: row.id, first: row.exported_sequence + 1, last: object.first - 1 },
        "retention removed entries of the audit log before they were exported",
      );
    }
    return object;
  }

  async #write(row: DestinationRow, object: ExportObject, signal: AbortSignal): Promise<void> {
    const bucket = await this.#writer.open(placeOf(row), { signal });
    signal.throwIfAborted();
    await bucket.put(
      {
        name: object.name,
        bytes: object.bytes,
        type: "application/gzip",
        // An earlier try may have written the object whole; do not replace it by a cut one.
        keepPresent: object.isCut,
      },
      signal,
    );
  }

  async #exportTo(claimed: DestinationRow, signal: AbortSignal): Promise<void> {
    let row: DestinationRow | undefined = claimed;
    const isStopped = () => signal.aborted;
    while (!isStopped()) {
      const object = await this.#next(row);
      if (object === undefined) {
        await this.#store.finish(row, this.#everyMs);
        return;
      }
      row = await this.#store.begin(row, object);
      if (row === undefined || isStopped()) return;
      try {
        await this.#write(row, object, signal);
      } catch (error) {
        if (isStopped()) return;
        if (!(error instanceof AwsFailure)) throw error;
        const afterMs = backoffMs(row.consecutive_failures + 1);
        this.#log.warn(
          { destination: row.id, bucket: row.bucket, failures: row.consecutive_failures + 1, err: error },
          "the audit log could not be exported; it will be retried",
        );
        await this.#store.fail(row, { message: error.message, afterMs });
        return;
      }
      row = await this.#store.advance(row, object);
      if (row === undefined) return;
      // Later entries wait for the interval, or each entry would become an object.
      if (!object.hasMore) {
        await this.#store.finish(row, this.#everyMs);
        return;
      }
    }
  }

  async #run(row: DestinationRow, signal: AbortSignal): Promise<void> {
    try {
      await this.#exportTo(row, signal);
      // A change by a user prevented the steps above from ending the lease.
      await this.#store.release(row);
    } catch (error) {
      this.#log.warn({ destination: row.id, err: error }, "an export of the audit log was interrupted; it will resume");
      // If this fails as well, the lease expires.
      await this.#store.finish(row, databaseRetryMs).catch(() => undefined);
    }
  }

  async #lookOnce(): Promise<void> {
    for (;;) {
      if (this.#lookout.isClosed) return;
      const row = await this.#store.claim();
      if (row === undefined) return;
      const before = this.#running.get(row.id);
      if (before !== undefined) {
        // The lease of the previous run has expired, or was just ended: wait for its end, then release.
        void before.done
          .then(() => this.#store.release(row))
          .then(
            () => {
              this.#lookout.look();
            },
            () => undefined,
          );
        continue;
      }
      const stop = new AbortController();
      const done = this.#run(row, stop.signal).finally(() => this.#running.delete(row.id));
      this.#running.set(row.id, { revision: row.revision, stop, done });
    }
  }

  #changed(id: string): void {
    const active = this.#running.get(id);
    if (active === undefined) {
      this.#lookout.look();
      return;
    }
    void (async () => {
      // The exporter may be writing this revision.
      this.stop(
        id,
        await this.#store.find(id).then(
          (row) => row?.revision,
          () => undefined,
        ),
      );
      await active.done;
      this.#lookout.look();
    })();
  }
}
