import { notifyChanges } from "./functions.ts";

export const handoffs: readonly string[] = [
  `create table handoffs (
    id text collate "C" primary key,
    project_id text collate "C" not null references projects,
    session_id text collate "C" not null references sessions on delete cascade,
    key_id text collate "C" not null,
    status text collate "C" not null default 'requested' check (status in ('requested', 'taken', 'released', 'expired', 'canceled')),
    message text not null,
    on_automation text collate "C" not null check (on_automation in ('wait', 'refuse')),
    label text,
    created_at timestamptz(3) not null default now(),
    expires_at timestamptz(3) not null,
    taken_at timestamptz(3),
    ended_at timestamptz(3),
    released_by text,
    note text,
    constraint handoffs_ended check ((status in ('requested', 'taken')) = (ended_at is null))
  )`,
  "create unique index handoffs_active on handoffs (session_id) where status in ('requested', 'taken')",
  "create index handoffs_by_session on handoffs (session_id, created_at desc, id)",
  "create index handoffs_due on handoffs (expires_at) where status in ('requested', 'taken')",
  ...notifyChanges("handoffs"),

  `create function shoal_handoff_changed() returns trigger language plpgsql as $$
    begin
      perform shoal_emit(new.project_id, 'handoff.' || new.status, json_build_object(
        'handoff_id', new.id, 'session_id', new.session_id,
        'session_name', (select name from sessions where id = new.session_id),
        'message', new.message, 'label', new.label, 'created_at', shoal_iso(new.created_at),
        'expires_at', shoal_iso(new.expires_at), 'taken_at', shoal_iso(new.taken_at), 'ended_at', shoal_iso(new.ended_at),
        'released_by', new.released_by, 'note', new.note));
      return null;
    end $$`,
  "create trigger shoal_emit_requested after insert on handoffs for each row execute function shoal_handoff_changed()",
  `create trigger shoal_emit_changed after update of status on handoffs for each row
    when (old.status <> new.status) execute function shoal_handoff_changed()`,

  // Also for the sessions of a killed server, which another server ends.
  `create function shoal_end_handoff() returns trigger language plpgsql as $$
    begin
      update handoffs set status = 'canceled', ended_at = clock_timestamp()
        where session_id = new.id and status in ('requested', 'taken');
      return null;
    end $$`,
  `create trigger shoal_end_handoff after update of ended_at on sessions for each row
    when (old.ended_at is null and new.ended_at is not null) execute function shoal_end_handoff()`,

  `create table live_view_links (
    id text collate "C" primary key,
    project_id text collate "C" not null references projects,
    session_id text collate "C" not null references sessions on delete cascade,
    key_id text collate "C" not null,
    scope text collate "C" not null check (scope in ('view', 'operate')),
    label text,
    created_at timestamptz(3) not null default now(),
    expires_at timestamptz(3) not null
  )`,
  "create index live_view_links_by_session on live_view_links (session_id, created_at desc, id)",
  "create index live_view_links_expired on live_view_links (expires_at)",
  ...notifyChanges("live_view_links"),
];
