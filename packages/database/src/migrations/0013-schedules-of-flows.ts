import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Schedules that run flows instead of actions of apps. */
export const schedulesOfFlows: Migration = {
  async up(query: Kysely<unknown>) {
    await sql`alter table schedules
      alter column app_name drop not null,
      alter column version drop not null,
      alter column action_name drop not null,
      add column flow_id text collate "C" references flows on delete cascade,
      add column flow_start json,
      add column last_flow_run_id text collate "C",
      add constraint schedules_target check (
        case when flow_id is null then app_name is not null and version is not null and action_name is not null
        else app_name is null and version is null and action_name is null and flow_start is not null end)`.execute(
      query,
    );
    await sql`create index schedules_of_flow on schedules (flow_id) where flow_id is not null`.execute(query);
  },
};
