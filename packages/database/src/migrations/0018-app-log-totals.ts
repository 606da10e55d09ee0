import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Approximate bytes of a row and its places in indexes, without its lines. */
const rowBytes = 256;

/** Bytes of the log lines of each deployment. Triggers keep them, also for servers of earlier versions. */
export const appLogTotals: Migration = {
  async up(query: Kysely<unknown>) {
    await sql`create table app_log_totals (
      deployment_id text collate "C" primary key references deployments on delete cascade,
      bytes bigint not null
    )`.execute(query);
    await sql`lock table app_log_chunks in share row exclusive mode`.execute(query);
    await sql`insert into app_log_totals (deployment_id, bytes)
      select deployment_id, sum(octet_length(lines) + ${sql.lit(rowBytes)})
      from app_log_chunks group by deployment_id`.execute(query);
    await sql`create function shoal_add_app_log() returns trigger language plpgsql as $$
      begin
        insert into app_log_totals as total (deployment_id, bytes)
        select deployment_id, sum(octet_length(lines) + ${sql.lit(rowBytes)}) from changed group by deployment_id
        on conflict (deployment_id) do update set bytes = total.bytes + excluded.bytes;
        return null;
      end $$`.execute(query);
    await sql`create function shoal_subtract_app_log() returns trigger language plpgsql as $$
      begin
        update app_log_totals as total set bytes = greatest(0, total.bytes - gone.bytes)
        from (
          select deployment_id, sum(octet_length(lines) + ${sql.lit(rowBytes)}) as bytes
          from changed group by deployment_id order by deployment_id
        ) as gone
        where total.deployment_id = gone.deployment_id;
        return null;
      end $$`.execute(query);
    await sql`create trigger shoal_add_app_log after insert on app_log_chunks
      referencing new table as changed for each statement execute function shoal_add_app_log()`.execute(query);
    await sql`create trigger shoal_subtract_app_log after delete on app_log_chunks
      referencing old table as changed for each statement execute function shoal_subtract_app_log()`.execute(query);
  },
};
