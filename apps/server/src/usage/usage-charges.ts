import type { Database, Tables } from "@shoal/database";
import { sql, type Transaction } from "kysely";

export interface Charge {
  readonly project_id: string;
  readonly session_ms: number;
  readonly bytes_sent: number;
  readonly bytes_received: number;
}

/** Sessions per transaction. */
const batch = 5_000;
/** So that servers with a late sign of life still count towards the peak. */
const keptMinutes = 10;

/** Adds the use of sessions to `usage_days`. Any server may charge the sessions of all servers. */
export class UsageCharges {
  readonly #query: Database["query"];
  readonly #onCharge: (charges: readonly Charge[]) => void;

  constructor({ query }: Database, onCharge: (charges: readonly Charge[]) => void = () => undefined) {
    this.#query = query;
    this.#onCharge = onCharge;
  }

  async charge(): Promise<void> {
    for (let charged = batch; charged === batch;) {
      const result = await this.#query.transaction().execute(async (transaction) => {
        // Two servers that charge at the same time would wait for each other's rows.
        await sql`select pg_advisory_xact_lock(1936223073, 27654)`.execute(transaction);
        const sums = await addSums(transaction);
        // After the sums, so that it sees every session that they charge, and all that overlap it so far.
        if (sums.since !== null) await raisePeaks(transaction, sums.since);
        return sums;
      });
      this.#onCharge(result.charges);
      charged = result.sessions;
    }
    await this.#forgetCharged();
  }

  /** Raises today's storage to the present size of profiles, extensions, snapshots, recordings and kept downloads. */
  async chargeStorage(): Promise<void> {
    await sql`
      insert into usage_days (date, project_id, scope, storage_bytes)
      select (clock_timestamp() at time zone 'utc')::date, project_id, 'project', sum(bytes)::bigint
      from (
        select project_id, size_bytes::bigint as bytes from extensions
        union all
        select project_id, max(profile_versions.size_bytes)::bigint from profile_versions
          join profiles on profiles.id = profile_versions.profile_id group by project_id, blob
        union all
        select project_id, size_bytes::bigint from snapshots
        union all
        select project_id, sum(size_bytes)::bigint from session_files where stored_at is not null and kind <> 'telemetry'
          group by project_id
        union all
        select project_id, bytes from usage_storage where exists (select 1 from servers where servers.id = server_id)
      ) as stored
      group by project_id having sum(bytes) > 0 order by project_id
      on conflict (date, project_id, scope, api_key_id) do update set storage_bytes = excluded.storage_bytes
        where usage_days.storage_bytes < excluded.storage_bytes`.execute(this.#query);
    await sql`delete from usage_storage where not exists (select 1 from servers where servers.id = server_id)`.execute(
      this.#query,
    );
  }

  async dropBefore(retentionDays: number): Promise<void> {
    await sql`delete from usage_days where date < (now() at time zone 'utc')::date - ${retentionDays}::int`.execute(
      this.#query,
    );
  }

  async #forgetCharged(): Promise<void> {
    await sql`
      delete from usage_sessions where ended_at < now() - make_interval(mins => ${keptMinutes}::int)
        and charged_at >= ended_at and charged_sent = bytes_sent and charged_received = bytes_received`.execute(
      this.#query,
    );
  }
}

/**
 * Raises peaks by all intervals since a moment. Intervals that were read before cannot raise a peak again, so reading
 * some of them twice is harmless.
 * @param since - the oldest moment that the transaction charges.
 */
async function raisePeaks(transaction: Transaction<Tables>, since: string): Promise<void> {
  await sql`
    with used as (
      select project_id, coalesce(api_key_id, '') as api_key_id,
        greatest(started_at, ${since}::timestamptz) as since, coalesce(ended_at, seen_at) as until
      from usage_sessions
    ), parts as (
      select day::date as date, project_id, api_key_id,
        greatest(since at time zone 'utc', day) as since, least(until at time zone 'utc', day + interval '1 day') as until
      from used cross join lateral
        generate_series(date_trunc('day', since at time zone 'utc'), until at time zone 'utc', interval '1 day') as day
      where until > since
    ), steps as (
      select date, project_id, scope, case scope when 'project' then '' else api_key_id end as api_key_id, at, step
      from parts
        cross join lateral (values (since, 1), (until, -1)) as edge (at, step)
        cross join (values ('project'), ('api_key')) as scopes (scope)
      where until > since
    ), levels as (
      select date, project_id, scope, api_key_id,
        sum(step) over (partition by date, project_id, scope, api_key_id order by at, step rows unbounded preceding) as level
      from steps
    )
    insert into usage_days (date, project_id, scope, api_key_id, peak_sessions)
    select date, project_id, scope, api_key_id, max(level)::int from levels
      group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (date, project_id, scope, api_key_id) do update set peak_sessions = excluded.peak_sessions
      where usage_days.peak_sessions < excluded.peak_sessions`.execute(transaction);
}

interface Sums {
  readonly sessions: number;
  /** Oldest moment charged, with microseconds; `null` if nothing was due. */
  readonly since: string | null;
  readonly charges: readonly Charge[];
}

/** Adds the use since the last charge, split at midnight (UTC). Bytes belong to the day on which they are charged. */
async function addSums(transaction: Transaction<Tables>): Promise<Sums> {
  const { rows } = await sql<Charge & Pick<Sums, "sessions" | "since">>`
    with due as (
      select session_id, project_id, coalesce(api_key_id, '') as api_key_id, charged_at is null as is_new,
        coalesce(charged_at, started_at) as since,
        greatest(coalesce(ended_at, seen_at), charged_at, started_at) as until,
        bytes_sent, bytes_received, bytes_sent - charged_sent as sent, bytes_received - charged_received as received
      from usage_sessions
      where coalesce(ended_at, seen_at) is not null and (charged_at is null or coalesce(ended_at, seen_at) > charged_at
        or bytes_sent > charged_sent or bytes_received > charged_received)
      order by session_id limit ${batch} for update skip locked
    ), charged as (
      update usage_sessions set charged_at = due.until, charged_sent = due.bytes_sent, charged_received = due.bytes_received
      from due where usage_sessions.session_id = due.session_id
    ), parts as (
      select day::date as date, project_id, api_key_id,
        (extract(epoch from least(until at time zone 'utc', day + interval '1 day') - greatest(since at time zone 'utc', day)) * 1000)::bigint as ms,
        (is_new and day = date_trunc('day', since at time zone 'utc'))::int as started,
        case when day = date_trunc('day', until at time zone 'utc') then sent else 0 end as sent,
        case when day = date_trunc('day', until at time zone 'utc') then received else 0 end as received
      from due cross join lateral
        generate_series(date_trunc('day', since at time zone 'utc'), until at time zone 'utc', interval '1 day') as day
    ), sums as (
      select date, project_id, scope, case scope when 'project' then '' else api_key_id end as api_key_id,
        sum(ms)::bigint as ms, sum(started)::bigint as started, sum(sent)::bigint as sent, sum(received)::bigint as received
      from parts cross join (values ('project'), ('api_key')) as scopes (scope)
      where ms > 0 or started > 0 or sent > 0 or received > 0
      group by 1, 2, 3, 4
    ), added as (
      insert into usage_days as total (date, project_id, scope, api_key_id, session_ms, sessions_started, bytes_sent, bytes_received)
      select date, project_id, scope, api_key_id, ms, started, sent, received from sums order by 1, 2, 3, 4
      on conflict (date, project_id, scope, api_key_id) do update set
        session_ms = total.session_ms + excluded.session_ms,
        sessions_started = total.sessions_started + excluded.sessions_started,
        bytes_sent = total.bytes_sent + excluded.bytes_sent,
        bytes_received = total.bytes_received + excluded.bytes_received
    )
    select project_id, sum(ms)::bigint as session_ms, sum(sent)::bigint as bytes_sent,
      sum(received)::bigint as bytes_received, (select count(*) from due)::int as sessions,
      (select min(since)::text from due) as since
    from sums where scope = 'project' group by project_id`.execute(transaction);
  return { sessions: rows[0]?.sessions ?? 0, since: rows[0]?.since ?? null, charges: rows };
}
