import type { Database } from "@shoal/database";
import type { Instance, TransferredBytes } from "@shoal/placement";
import { sql } from "kysely";
import type { Log } from "../log/log.ts";

/** Ended sessions that wait for the next write; reached only in a long outage of the database. */
const maxEnded = 10_000;

interface Metered {
  readonly read: () => TransferredBytes;
  isOver: boolean;
}

/**
 * Writes signs of life and transferred bytes of this server's sessions. The values are totals, so that a repeated write
 * changes nothing.
 */
export class UsageMeter {
  readonly #query: Database["query"];
  readonly #sessions = new Map<string, Metered>();
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #writing: Promise<void> | undefined;

  constructor({ query }: Database, options: { readonly everyMs: number; readonly log: Log }) {
    this.#query = query;
    this.#log = options.log;
    this.#timer = setInterval(() => void this.flush(), options.everyMs);
  }

  follow(sessionId: string, instance: Pick<Instance, "ended" | "transferred">): void {
    const metered: Metered = { read: () => instance.transferred(), isOver: false };
    this.#sessions.set(sessionId, metered);
    void instance.ended.then(() => {
      metered.isOver = true;
    });
  }

  /** Never rejects; the next call writes the same values. */
  flush(): Promise<void> {
    return (this.#writing ??= this.#write()
      .catch((error: unknown) => {
        this.#log.warn({ err: error }, "usage could not be recorded");
        this.#dropExcess();
      })
      .finally(() => {
        this.#writing = undefined;
      }));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    await this.flush();
  }

  async #write(): Promise<void> {
    const over = [...this.#sessions].filter(([, { isOver }]) => isOver).map(([id]) => id);
    const ids: string[] = [];
    const sent: number[] = [];
    const received: number[] = [];
    for (const [id, { read }] of this.#sessions) {
      const { receivedBytes, sentBytes } = read();
      ids.push(id);
      sent.push(sentBytes);
      received.push(receivedBytes);
    }
    if (ids.length === 0) return;
    await sql`
      update usage_sessions as metered set
        seen_at = case when ended_at is null then greatest(seen_at, clock_timestamp()) else seen_at end,
        bytes_sent = greatest(metered.bytes_sent, seen.sent),
        bytes_received = greatest(metered.bytes_received, seen.received)
      from unnest(${ids}::text[], ${sent}::bigint[], ${received}::bigint[]) as seen (id, sent, received)
      where session_id = seen.id
        and (ended_at is null or metered.bytes_sent < seen.sent or metered.bytes_received < seen.received)`.execute(
      this.#query,
    );
    for (const id of over) this.#sessions.delete(id);
  }

  #dropExcess(): void {
    const over = [...this.#sessions].filter(([, { isOver }]) => isOver).map(([id]) => id);
    for (const id of over.slice(0, Math.max(0, over.length - maxEnded))) this.#sessions.delete(id);
  }
}
