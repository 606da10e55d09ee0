import { type Database, type Tables } from "@shoal/database";
import { type Kysely, sql } from "kysely";
import { LRUCache } from "lru-cache";
import pTimeout from "p-timeout";
import type { Log } from "../../log/log.ts";

/** What happened since the last write. */
interface Unwritten {
  readonly exportedAt?: Date;
  /** Since the last success. */
  readonly failures: number;
  readonly error?: { readonly text: string; readonly at: Date };
}

interface Known {
  readonly unwritten: Unwritten | undefined;
  readonly writtenAtMs: number;
  readonly isFailing: boolean;
  readonly timer: NodeJS.Timeout | undefined;
}

const everyMs = 5_000;
/** A destination that takes everything is written less often. */
const everyMsOfSuccess = 60_000;
const closeMs = 2_000;

/** Stores whether destinations take events, at most once in some seconds for each of them. */
export class DeliveryRecords {
  readonly #query: Kysely<Tables>;
  readonly #log: Log;
  readonly #known = new LRUCache<string, Known>({
    max: 10_000,
    dispose: ({ timer }) => {
      clearTimeout(timer);
    },
  });
  readonly #writing = new Set<Promise<void>>();

  constructor({ query }: Pick<Database, "query">, log: Log) {
    this.#query = query;
    this.#log = log;
  }

  taken(id: string): void {
    this.#note(id, { exportedAt: new Date(), failures: 0 });
  }

  /** @param why - a text without data of the destination. What follows a colon is for the operator alone. */
  failed(id: string, why: string): void {
    const [text = why] = why.split(":", 1);
    const unwritten = this.#known.peek(id)?.unwritten;
    this.#note(id, { ...unwritten, failures: (unwritten?.failures ?? 0) + 1, error: { text, at: new Date() } });
  }

  /** Writes the rest. */
  async close(): Promise<void> {
    for (const [id, { unwritten }] of [...this.#known.entries()]) if (unwritten !== undefined) this.#write(id);
    await pTimeout(Promise.all(this.#writing), { milliseconds: closeMs, fallback: () => undefined });
    this.#known.clear();
  }

  #note(id: string, unwritten: Unwritten): void {
    const before = this.#known.peek(id);
    const isFailing = unwritten.failures > 0;
    const isUsual = !isFailing && before?.isFailing === false && before.unwritten?.error === undefined;
    const waitMs = (before?.writtenAtMs ?? -Infinity) + (isUsual ? everyMsOfSuccess : everyMs) - performance.now();
    const merged = isFailing ? unwritten : { ...before?.unwritten, ...unwritten };
    const timer =
      waitMs <= 0
        ? undefined
        : (before?.timer ??
          setTimeout(() => {
            this.#write(id);
          }, waitMs).unref());
    const next = { unwritten: merged, writtenAtMs: before?.writtenAtMs ?? -Infinity, isFailing, timer };
    this.#known.set(id, next, { noDisposeOnSet: true });
    if (waitMs <= 0) this.#write(id);
  }

  #write(id: string): void {
    const known = this.#known.peek(id);
    if (known?.unwritten === undefined) return;
    clearTimeout(known.timer);
    const { error, exportedAt, failures } = known.unwritten;
    const next = { ...known, unwritten: undefined, writtenAtMs: performance.now(), timer: undefined };
    this.#known.set(id, next, { noDisposeOnSet: true });
    const written = this.#query
      .updateTable("telemetry_destinations")
      .set({
        consecutive_failures:
          exportedAt === undefined ? sql<number>`least(consecutive_failures + ${failures}, 2147483647)` : failures,
        ...(exportedAt !== undefined && { last_export_at: exportedAt }),
        ...(error !== undefined && { last_error: error.text, last_error_at: error.at }),
      })
      .where("id", "=", id)
      .execute()
      .then(
        () => undefined,
        (problem: unknown) => {
          this.#log.warn({ err: problem, destination_id: id }, "the state of a telemetry destination was not stored");
        },
      );
    this.#writing.add(written);
    void written.then(() => this.#writing.delete(written));
  }
}
