import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Whether a receiver of telemetry takes events. */
export const telemetryDeliveries: Migration = {
  async up(query: Kysely<unknown>) {
    await sql`
      alter table telemetry_destinations
        add column consecutive_failures integer not null default 0,
        add column last_export_at timestamptz(3),
        add column last_error text,
        add column last_error_at timestamptz(3)`.execute(query);
  },
};
