import type { Database } from "@shoal/database";
import type { Log } from "../log.ts";
import { AwsFailure } from "./aws-failure.ts";
import { placeOf } from "./bucket-place.ts";
import type { BucketWriter } from "./bucket-writer.ts";
import type { DestinationRow, DestinationStore } from "./destination-store.ts";
import type { ExportObject, ExportObjects } from "./export-objects.ts";

/** Writes the audit log to the destinations that are active, each entry once, whatever the number of servers. */
export interface Exporter {
  /**
   * Breaks off what this server writes to a destination that was changed or deleted.
   *
   * @param revision - of the destination as it is by now, which may be written to already; `undefined` = it is gone.
   */
  stop(id: string, revision: number | undefined): void;
  /** Stops, and waits for what runs. */
  close(): Promise<void>;
}

export interface ExporterParts {
  readonly database: Pick<Database, "onChange">;
  readonly store: DestinationStore;
  readonly objects: ExportObjects;
  readonly writer: BucketWriter;
  /** How long entries wait for others before they become an object. */
  readonly everyMs: number;
  readonly log: Log;
}

/** How often due destinations are looked for, at the most. */
const lookEveryMs = 5000;
const firstRetryMs = 15_000;
const maxRetryMs = 60 * 60_000;
/** After a failure of the database, which cannot be noted there. */
const databaseRetryMs = 5000;

/** How long to wait after so many failures in a row: 15 s, 30 s, … an hour. */
export function backoffMs(failures: number): number {
  return Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(20, Math.max(0, failures - 1)));
}

/** @param parts.store - without what this server held in an earlier run. */
export function startExporter({ database, everyMs, log, objects, store, writer }: ExporterParts): Exporter {
  const running = new Map<string, { readonly revision: number; readonly stop: AbortController; readonly done: Promise<void> }>();
  let looking: Promise<void> | undefined;
  let lookAgain = false;
  let closed = false;

  /** What is to be written now: what a try before this one began with, or what has come since the last object. */
  async function next(row: DestinationRow): Promise<ExportObject | undefined> {
    if (row.pending_first !== null && row.pending_last !== null && row.pending_name !== null) {
      const again = await objects.again({ first: row.pending_first, last: row.pending_last, name: row.pending_name });
      if (again !== undefined) return again;
      log.warn(
        { destination: row.id, first: row.pending_first, last: row.pending_last },
        "entries of the audit log became too old before it was certain that they were exported",
      );
    }
    const object = await objects.after(row.exported_sequence);
    if (object !== undefined && row.exported_sequence > 0 && object.first > row.exported_sequence + 1) {
      log.warn(
        { destination: row.id, first: row.exported_sequence + 1, last: object.first - 1 },
        "entries of the audit log became too old before they were exported",
      );
    }
    return object;
  }

  /** @throws {AwsFailure} */
  async function write(row: DestinationRow, object: ExportObject, signal: AbortSignal): Promise<void> {
    const place = placeOf(row);
    const keys = await writer.assume(place, { signal });
    signal.throwIfAborted();
    // What was perhaps written whole is not replaced by what is left of it.
    await writer.put(place, keys, { name: object.name, bytes: object.bytes, type: "application/gzip", keepPresent: object.isCut, signal });
  }

  async function exportTo(claimed: DestinationRow, signal: AbortSignal): Promise<void> {
    let row: DestinationRow | undefined = claimed;
    const isStopped = () => signal.aborted;
    while (!isStopped()) {
      const object = await next(row);
      if (object === undefined) {
        await store.finish(row, everyMs);
        return;
      }
      row = await store.begin(row, object);
      if (row === undefined || isStopped()) return;
      try {
        await write(row, object, signal);
      } catch (error) {
        if (isStopped()) return;
        if (!(error instanceof AwsFailure)) throw error;
        const afterMs = backoffMs(row.consecutive_failures + 1);
        log.warn(
          { destination: row.id, bucket: row.bucket, failures: row.consecutive_failures + 1, err: error },
          "the audit log could not be exported; it is tried again",
        );
        await store.fail(row, { message: error.message, afterMs });
        return;
      }
      row = await store.advance(row, object);
      if (row === undefined) return;
      // What came meanwhile waits for others, or each entry would become an object.
      if (!object.hasMore) {
        await store.finish(row, everyMs);
        return;
      }
    }
  }

  async function run(row: DestinationRow, signal: AbortSignal): Promise<void> {
    try {
      await exportTo(row, signal);
      // Where it was changed meanwhile, no step of this run could let go of it.
      await store.release(row);
    } catch (error) {
      log.warn({ destination: row.id, err: error }, "an export of the audit log was broken off; it goes on from where it was");
      // If this fails too, its time runs out.
      await store.finish(row, databaseRetryMs).catch(() => undefined);
    }
  }

  async function lookOnce(): Promise<void> {
    for (;;) {
      if (closed) return;
      const row = await store.claim();
      if (row === undefined) return;
      const before = running.get(row.id);
      if (before !== undefined) {
        // It took so long that its time ran out, or has let go a moment ago: when it has ended, the destination is anybody's.
        void before.done.then(() => store.release(row)).then(look, () => undefined);
        continue;
      }
      const stop = new AbortController();
      const done = run(row, stop.signal).finally(() => running.delete(row.id));
      running.set(row.id, { revision: row.revision, stop, done });
    }
  }

  function look(): void {
    if (closed) return;
    lookAgain = true;
    looking ??= (async () => {
      while (lookAgain) {
        lookAgain = false;
        await lookOnce().catch((error: unknown) => {
          log.warn({ err: error }, "destinations of the audit log could not be looked for");
        });
      }
    })().finally(() => {
      looking = undefined;
    });
  }

  function stop(id: string, revision: number | undefined): void {
    const active = running.get(id);
    if (active !== undefined && active.revision !== revision) active.stop.abort();
  }

  /** On whichever server. */
  function changed(id: string): void {
    const active = running.get(id);
    if (active === undefined) {
      look();
      return;
    }
    void (async () => {
      // What it hears of may be what it has begun with.
      stop(
        id,
        await store.find(id).then(
          (row) => row?.revision,
          () => undefined,
        ),
      );
      await active.done;
      look();
    })();
  }

  const forget = database.onChange((change) => {
    if (change === undefined) look();
    else if (change.table === "audit_export_destinations") changed(change.id);
  });
  const timer = setInterval(look, Math.min(lookEveryMs, everyMs));
  look();

  return {
    stop,
    async close() {
      closed = true;
      clearInterval(timer);
      forget();
      await looking;
      const left = [...running.values()];
      for (const { stop } of left) stop.abort();
      await Promise.all(left.map(({ done }) => done));
    },
  };
}
