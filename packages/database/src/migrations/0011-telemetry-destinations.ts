import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** Collectors that sessions' telemetry is sent to, and which sessions and pools use them. */
export const telemetryDestinations: Migration = {
  id: "0011_telemetry_destinations",
  async up(query) {
    await sql`
      create table telemetry_destinations (
        id text collate "C" primary key,
        project_id text collate "C" not null references projects,
        name text collate "C" not null,
        name_folded text collate "C" generated always as (shoal_fold(name)) stored,
        endpoint text not null,
        description text,
        header_names jsonb not null default '[]',
        headers bytea,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        unique (project_id, name)
      )`.execute(query);
    await sql`create index telemetry_destinations_by_age on telemetry_destinations (project_id, created_at desc, id)`.execute(query);
    await sql`create index telemetry_destinations_by_name on telemetry_destinations (project_id, name_folded)`.execute(query);
    await sql`create trigger shoal_project_open before insert on telemetry_destinations for each row execute function shoal_project_open()`.execute(
      query,
    );
    await sql`create trigger shoal_changes after insert or delete on telemetry_destinations for each row execute function shoal_notify()`.execute(
      query,
    );
    await sql`create trigger shoal_updates after update on telemetry_destinations for each row when (old.* is distinct from new.*) execute function shoal_notify()`.execute(
      query,
    );

    // Of a session that has ended, the service refuses nothing: the reference goes with the destination.
    await sql`alter table sessions add column telemetry_destination_id text collate "C" references telemetry_destinations on delete set null`.execute(
      query,
    );
    await sql`create index sessions_by_telemetry_destination on sessions (telemetry_destination_id) where telemetry_destination_id is not null`.execute(
      query,
    );
    await sql`
      alter table browser_pools add column telemetry_destination_id text collate "C" generated always as (config ->> 'telemetry_destination_id') stored
        references telemetry_destinations`.execute(query);
    await sql`create index browser_pools_by_telemetry_destination on browser_pools (telemetry_destination_id) where telemetry_destination_id is not null`.execute(
      query,
    );
  },
};
