import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { notifyChanges, requireOpenProject } from "./foundation/functions.ts";

/** Runs of flows. Values of parameters are only in divergences. */
export const flowRuns: Migration = {
  async up(query: Kysely<unknown>) {
    await sql`create table flow_runs (
      id text collate "C" primary key,
      project_id text collate "C" not null references projects,
      flow_id text collate "C" not null references flows on delete cascade,
      flow_version integer not null,
      status text not null default 'running',
      row_count integer not null,
      server_id text collate "C" not null,
      created_at timestamptz(3) not null default now(),
      finished_at timestamptz(3)
    )`.execute(query);
    await sql`create index flow_runs_by_age on flow_runs (flow_id, created_at desc, id desc)`.execute(query);
    await sql`create index flow_runs_running on flow_runs (server_id) where status = 'running'`.execute(query);
    await sql`create table flow_run_rows (
      run_id text collate "C" not null references flow_runs on delete cascade,
      index integer not null,
      status text not null default 'queued',
      session_id text collate "C",
      steps json not null default '[]',
      error text,
      primary key (run_id, index)
    )`.execute(query);
    await sql`create function shoal_flow_run_ended() returns trigger language plpgsql as $$
      begin
        perform shoal_emit(new.project_id, 'flow_run.finished', json_build_object(
          'run_id', new.id, 'flow_id', new.flow_id, 'flow_version', new.flow_version, 'status', new.status,
          'row_count', new.row_count, 'created_at', shoal_iso(new.created_at), 'finished_at', shoal_iso(new.finished_at)));
        return null;
      end $$`.execute(query);
    await sql`create trigger shoal_emit_ended after update of finished_at on flow_runs for each row
      when (old.finished_at is null and new.finished_at is not null) execute function shoal_flow_run_ended()`.execute(
      query,
    );
    await sql`create function shoal_lose_flow_runs(server text) returns void language sql as $$
      update flow_runs set status = 'unknown', finished_at = clock_timestamp() where server_id = server and status = 'running'
    $$`.execute(query);
    await sql.raw(requireOpenProject("flow_runs")).execute(query);
    for (const trigger of notifyChanges("flow_runs")) await sql.raw(trigger).execute(query);
  },
};
