import { hasCode } from "@shoal/primitives";
import type { SecondDatabase } from "@shoal/database";
import { sql } from "kysely";

/** A server of the database, as `shoal doctor` shows it. */
export interface ListedServer {
  readonly id: string;
  /** `null` before it listens. */
  readonly address: string | null;
  readonly version: string | null;
  readonly region: string | null;
  readonly startedAt: string;
  readonly heartbeatAt: string;
  /** It sends no heartbeats. */
  readonly isSilent: boolean;
  readonly drainingSince: string | null;
  /** `null` = until the operator stops the server. */
  readonly drainUntil: string | null;
  readonly sessions: number;
  /** Names or ids of its oldest sessions, at most 5. */
  readonly oldest: readonly string[];
  readonly invocations: number;
}

/** Oldest first. @returns an empty list if the tables do not exist yet. */
export async function listServers({ query }: SecondDatabase): Promise<readonly ListedServer[]> {
  try {
    const { rows } = await sql<ListedServer>`
      select id, address, version, region, started_at as "startedAt", heartbeat_at as "heartbeatAt",
        heartbeat_at < clock_timestamp() - interval '10 seconds' as "isSilent",
        draining_since as "drainingSince", drain_until as "drainUntil",
        (select count(*)::int from sessions where server_id = servers.id and ended_at is null) as sessions,
        array(select coalesce(name, id) from sessions where server_id = servers.id and ended_at is null
          order by created_at, id limit 5) as oldest,
        (select count(*)::int from invocations where server_id = servers.id and finished_at is null) as invocations
      from servers order by started_at, id`.execute(query);
    return rows;
  } catch (error) {
    const isMissing = hasCode(error, "42P01", "42703");
    if (isMissing) return [];
    throw error;
  }
}
