import { requireOpenProject } from "./functions.ts";

/** Waiting deliveries of a webhook; further events are dropped. */
const maxPending = 10_000;
/** Of an event, in bytes. */
const maxPayloadBytes = 65_536;

const endings: readonly string[] = [
  `create function shoal_session_ended() returns trigger language plpgsql as $$
    begin
      perform shoal_emit(new.project_id, 'browser.ended', json_build_object(
        'session_id', new.id, 'name', new.name, 'tags', new.tags, 'region', new.region,
        'created_at', shoal_iso(new.created_at), 'ended_at', shoal_iso(new.ended_at), 'ended_reason', new.ended_reason,
        'profile_id', new.profile_id, 'pool_id', new.pool_id, 'invocation_id', new.invocation_id));
      return null;
    end $$`,
  // Clients never saw the other browsers of pools.
  `create trigger shoal_emit_ended after update of ended_at on sessions for each row
    when (old.ended_at is null and new.ended_at is not null and (new.pool_state is null or new.pool_state = 'leased'))
    execute function shoal_session_ended()`,

  `create function shoal_invocation_ended() returns trigger language plpgsql as $$
    begin
      perform shoal_emit(new.project_id, 'invocation.' || new.status, json_build_object(
        'invocation_id', new.id, 'deployment_id', new.deployment_id, 'app_name', new.app_name, 'version', new.version,
        'action_name', new.action_name, 'status', new.status, 'status_reason', left(new.status_reason, 1024),
        'retries', jsonb_array_length(new.attempts),
        'started_at', shoal_iso(new.started_at), 'finished_at', shoal_iso(new.finished_at)));
      return null;
    end $$`,
  `create trigger shoal_emit_ended after update of finished_at on invocations for each row
    when (old.finished_at is null and new.finished_at is not null) execute function shoal_invocation_ended()`,

  // A check found it signed out.
  `create function shoal_connection_signed_out() returns trigger language plpgsql as $$
    begin
      perform shoal_emit(new.project_id, 'auth.signed_out', json_build_object(
        'connection_id', new.id, 'domain', new.domain,
        'profile_name', (select name from profiles where id = new.profile_id)));
      return null;
    end $$`,
  `create trigger shoal_emit_signed_out after update of status on auth_connections for each row
    when (old.status = 'AUTHENTICATED' and new.status = 'NEEDS_AUTH') execute function shoal_connection_signed_out()`,

  `create function shoal_deployment_changed() returns trigger language plpgsql as $$
    begin
      perform shoal_emit(new.project_id, 'deployment.' || new.status, json_build_object(
        'deployment_id', new.id, 'status', new.status, 'status_reason', left(new.status_reason, 1024), 'version', new.version,
        'apps', (select coalesce(json_agg(app_name order by app_name), '[]') from
          (select app_name from app_versions where deployment_id = new.id order by app_name limit 100) apps),
        'created_at', shoal_iso(new.created_at)));
      return null;
    end $$`,
  `create trigger shoal_emit_changed after update of status on deployments for each row
    when (old.status <> new.status and new.status in ('running', 'failed', 'stopped')) execute function shoal_deployment_changed()`,
];

export const webhooks: readonly string[] = [
  `create table webhooks (
    id text collate "C" primary key,
    project_id text collate "C" not null references projects,
    url text not null,
    host text collate "C" not null,
    event_types text[] not null default '{}',
    description text,
    enabled boolean not null default true,
    disabled_reason text,
    secret bytea not null,
    previous_secret bytea,
    previous_secret_expires_at timestamptz(3),
    failing_since timestamptz(3),
    dropped_at timestamptz(3),
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    constraint webhooks_previous_expires check ((previous_secret is null) = (previous_secret_expires_at is null))
  )`,
  "create index webhooks_by_age on webhooks (project_id, created_at desc, id)",
  "create index webhooks_enabled on webhooks (project_id) where enabled",
  "create trigger shoal_changes after delete on webhooks for each row execute function shoal_notify()",
  `create trigger shoal_updates after update of secret, previous_secret on webhooks for each row
    when (old.* is distinct from new.*) execute function shoal_notify()`,
  requireOpenProject("webhooks"),

  `create table webhook_deliveries (
    id text collate "C" primary key,
    webhook_id text collate "C" not null references webhooks on delete cascade,
    event_id text collate "C" not null,
    event_type text collate "C" not null,
    payload text not null,
    status text collate "C" not null default 'pending' check (status in ('pending', 'succeeded', 'failed')),
    attempts integer not null default 0,
    retries integer not null default 0,
    next_attempt_at timestamptz(3) default clock_timestamp(),
    last_attempt_at timestamptz(3),
    lease_until timestamptz(3),
    response_status integer,
    duration_ms integer,
    error text,
    created_at timestamptz(3) not null default clock_timestamp(),
    constraint webhook_deliveries_due check ((status = 'pending') = (next_attempt_at is not null))
  )`,
  "create index webhook_deliveries_by_age on webhook_deliveries (webhook_id, created_at desc, id)",
  "create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at) where status = 'pending'",
  "create index webhook_deliveries_next on webhook_deliveries (next_attempt_at) where status = 'pending'",
  "create index webhook_deliveries_expired on webhook_deliveries (created_at)",

  `create function shoal_iso(at timestamptz) returns text language sql stable as $$
    select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$`,
  // The form of createId of @shoal/primitives.
  `create function shoal_random_id() returns text language sql volatile as $$
    select 'e' || left(replace(gen_random_uuid()::text, '-', ''), 23) $$`,

  // Stores a delivery for each webhook of the project, in the transaction of the change. The lock keeps a webhook that
  // another transaction deletes from failing the change.
  `create function shoal_emit(project text, type text, data json) returns void language plpgsql as $$
    declare
      event constant text := shoal_random_id();
      body text;
      webhook text;
    begin
      for webhook in
        select webhooks.id from webhooks
          where project_id = project and enabled and (event_types = '{}' or type = any (event_types))
          for key share
      loop
        body := coalesce(body, json_build_object('type', type, 'timestamp', shoal_iso(clock_timestamp()), 'data', data)::text);
        if octet_length(body) > ${String(maxPayloadBytes)} or (select count(*) >= ${String(maxPending)} from
            (select from webhook_deliveries where webhook_id = webhook and status = 'pending' limit ${String(maxPending)}) waiting) then
          update webhooks set dropped_at = clock_timestamp()
            where id = webhook and (dropped_at is null or dropped_at < clock_timestamp() - interval '1 minute');
        else
          insert into webhook_deliveries (id, webhook_id, event_id, event_type, payload) values (shoal_random_id(), webhook, event, type, body);
        end if;
      end loop;
      if body is not null then
        perform pg_notify('shoal_changes', 'webhook_deliveries:' || event);
      end if;
    end $$`,
  ...endings,
];
