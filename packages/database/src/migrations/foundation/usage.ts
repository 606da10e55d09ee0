/** One row per session in use, and their sums by UTC day. Rows outlive their project and key, so nothing refers to them. */
export const usage: readonly string[] = [
  `create table usage_sessions (
    session_id text collate "C" primary key,
    project_id text collate "C" not null,
    api_key_id text collate "C",
    server_id text collate "C" not null,
    started_at timestamptz(3) not null,
    seen_at timestamptz(3),
    ended_at timestamptz(3),
    charged_at timestamptz(3),
    bytes_sent bigint not null default 0,
    bytes_received bigint not null default 0,
    charged_sent bigint not null default 0,
    charged_received bigint not null default 0
  )`,

  `create table usage_days (
    date date not null,
    project_id text collate "C" not null,
    scope text not null check (scope in ('project', 'api_key')),
    api_key_id text collate "C" not null default '',
    session_ms bigint not null default 0,
    sessions_started bigint not null default 0,
    peak_sessions integer not null default 0,
    bytes_sent bigint not null default 0,
    bytes_received bigint not null default 0,
    storage_bytes bigint not null default 0,
    primary key (date, project_id, scope, api_key_id)
  )`,
  "create index usage_days_by_project on usage_days (project_id, date)",

  `create table usage_storage (
    server_id text collate "C" not null,
    project_id text collate "C" not null,
    bytes bigint not null,
    primary key (server_id, project_id)
  )`,

  // A trigger covers every path that starts or ends sessions, also for sessions of lost servers, in the same statement.
  `create function shoal_meter_session() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        delete from usage_sessions where session_id = old.id and ended_at is null and seen_at is null;
        update usage_sessions set ended_at = seen_at where session_id = old.id and ended_at is null;
      elsif new.ended_at is not null then
        update usage_sessions
          set ended_at = case
            when new.ended_reason = 'instance_lost' then coalesce(seen_at, started_at)
            else greatest(started_at, least(new.ended_at, clock_timestamp())) end
          where session_id = new.id and ended_at is null;
      elsif new.pool_state is null or new.pool_state = 'leased' then
        insert into usage_sessions (session_id, project_id, api_key_id, server_id, started_at)
          values (new.id, new.project_id, new.api_key_id, new.server_id, clock_timestamp())
          on conflict (session_id) do update set api_key_id = excluded.api_key_id;
      end if;
      return null;
    end $$`,
  `create trigger shoal_meter_start after insert on sessions for each row
    when (new.ended_at is null and new.pool_state is null) execute function shoal_meter_session()`,
  `create trigger shoal_meter_change after update of ended_at, pool_state, api_key_id on sessions for each row
    when (old.ended_at is null) execute function shoal_meter_session()`,
  "create trigger shoal_meter_removal after delete on sessions for each row when (old.ended_at is null) execute function shoal_meter_session()",
];
