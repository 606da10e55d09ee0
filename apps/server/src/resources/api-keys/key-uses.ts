import type { Database } from "@shoal/database";
import { sql } from "kysely";
import type { Log } from "../../log/log.ts";

/** One write covers many requests. */
export interface KeyUses {
  note(keyId: string): void;
  close(): Promise<void>;
}

const writeEveryMs = 2000;

export function createKeyUses({ query }: Database, log: Log): KeyUses {
  let noted = new Map<string, number>();
  let writing = Promise.resolve();

  async function write(): Promise<void> {
    if (noted.size === 0) return;
    const uses = noted;
    noted = new Map();
    const ids = [...uses.keys()];
    const moments = [...uses.values()].map((ms) => new Date(ms).toISOString());
    try {
      await sql`
        insert into api_key_uses (key_id, last_used_at) select * from unnest(${ids}::text[], ${moments}::timestamptz[])
        on conflict (key_id) do update set last_used_at = greatest(api_key_uses.last_used_at, excluded.last_used_at)`.execute(
        query,
      );
    } catch (error) {
      log.warn({ err: error }, "the last uses of keys could not be written");
      for (const [id, ms] of uses) if (!noted.has(id)) noted.set(id, ms);
    }
  }

  const timer = setInterval(() => {
    writing = writing.then(write);
  }, writeEveryMs);
  timer.unref();
  return {
    note(keyId) {
      noted.set(keyId, Date.now());
    },
    async close() {
      clearInterval(timer);
      await writing.then(write);
    },
  };
}
