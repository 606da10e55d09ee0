import type { Database } from "@shoal/database";
import { sql } from "kysely";
import { recentlyUsed } from "../../storage/recently-used.ts";
import type { Log } from "../../log/log.ts";
import { isAddress, type RateLimits, type Uses } from "./rate-limits.ts";

export interface SharedUses {
  /** Does nothing while an exchange is running. */
  exchange(): Promise<void>;
  stop(): Promise<void>;
}

const everyMs = 1000;
const keptSeconds = 120;
const maxSubjects = 20_000;

interface ShareOptions {
  readonly database: Database;
  readonly log: Log;
  readonly serverId: string;
  /** Older changes were read by an earlier exchange. After a longer pause, the buckets have refilled anyway. */
  readonly recentSeconds?: number;
}

interface Heard {
  readonly server_id: string;
  readonly subject: string;
  readonly used: string;
  readonly is_new: boolean;
}

/**
 * Once a second, each server adds its admitted requests to its own rows and charges itself the growth of the others. A
 * limit is therefore exceeded by at most one second of requests, and requests cost no round trip.
 */
export function shareUses(
  { database, log, serverId, recentSeconds = 5 }: ShareOptions,
  limits: Pick<RateLimits, "charge" | "takeUses">,
): SharedUses {
  const { query } = database;
  const heardKeys = recentlyUsed<number>(maxSubjects);
  // Separate, so that a flood of addresses evicts no keys.
  const heardAddresses = recentlyUsed<number>(maxSubjects);
  let running: Promise<void> | undefined;
  let lastMs = performance.now();
  let failed = false;

  async function tell(uses: Uses): Promise<void> {
    if (uses.size === 0) return;
    await sql`
      insert into rate_limit_uses (server_id, subject, used)
      select ${serverId}, subject, used from unnest(${[...uses.keys()]}::text[], ${[...uses.values()]}::bigint[]) as reported (subject, used)
      on conflict (server_id, subject) do update set used = rate_limit_uses.used + excluded.used, changed_at = now()`.execute(
      query,
    );
  }

  async function hear(): Promise<Uses> {
    const { rows } = await sql<Heard>`
      select server_id, subject, used::text, began_at > now() - make_interval(secs => ${recentSeconds}) as is_new from rate_limit_uses
      where server_id <> ${serverId} and changed_at > now() - make_interval(secs => ${recentSeconds})`.execute(query);
    const grown = new Map<string, number>();
    for (const { server_id, subject, used: text, is_new } of rows) {
      const row = `${server_id} ${subject}`;
      const used = Number(text);
      const heard = isAddress(subject) ? heardAddresses : heardKeys;
      const before = heard.get(row);
      heard.set(row, used);
      // A smaller value means that the row was created again. The age of a new row is unknown, so its first value is
      // free.
      const growth = before === undefined ? (is_new ? used : 0) : used >= before ? used - before : used;
      if (growth > 0) grown.set(subject, (grown.get(subject) ?? 0) + growth);
    }
    return grown;
  }

  async function once(): Promise<void> {
    const pauseMs = performance.now() - lastMs;
    lastMs = performance.now();
    try {
      await tell(limits.takeUses());
      const grown = await hear();
      if (pauseMs < recentSeconds * 1000) limits.charge(grown);
      if (failed) log.info({}, "rate limits hold across servers again");
      failed = false;
    } catch (error) {
      if (!failed)
        log.warn(
          { err: error },
          "rate limits apply to each server separately, because the counts of the other servers could not be read",
        );
      failed = true;
    }
  }

  const exchange = () =>
    (running ??= once().finally(() => {
      running = undefined;
    }));
  const timer = setInterval(() => void exchange(), everyMs).unref();
  const sweeping = setInterval(() => {
    sql`delete from rate_limit_uses where changed_at < now() - make_interval(secs => ${keptSeconds})`
      .execute(query)
      .catch(() => undefined);
  }, keptSeconds * 1000).unref();
  return {
    exchange,
    async stop() {
      clearInterval(timer);
      clearInterval(sweeping);
      await running;
    },
  };
}
