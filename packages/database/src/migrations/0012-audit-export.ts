import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** Buckets that the audit log is written to as it grows. */
export const auditExport: Migration = {
  id: "0012_audit_export",
  async up(query) {
    await sql`
      create table audit_export_destinations (
        id text collate "C" primary key,
        bucket text collate "C" not null,
        prefix text collate "C" not null,
        region text collate "C" not null,
        role_arn text collate "C" not null,
        kms_key_id text collate "C",
        external_id text collate "C" not null,
        status text collate "C" not null default 'paused' check (status in ('active', 'paused')),
        revision bigint not null default 1,
        exported_sequence bigint not null default 0,
        pending_first bigint,
        pending_last bigint,
        pending_name text collate "C",
        lease_server text collate "C",
        lease_until timestamptz(3),
        consecutive_failures integer not null default 0,
        last_error text,
        last_error_at timestamptz(3),
        last_success_at timestamptz(3),
        next_attempt_at timestamptz(3),
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        constraint audit_export_pending_whole check ((pending_first is null) = (pending_last is null) and (pending_first is null) = (pending_name is null))
      )`.execute(query);
    // Two that write to one place would write the same entries under two names.
    await sql`create unique index audit_export_destinations_place on audit_export_destinations (bucket, prefix)`.execute(query);
    // Only what people change: whoever exports would else be told of each step of its own.
    await sql`create trigger shoal_changes after insert or delete on audit_export_destinations for each row execute function shoal_notify()`.execute(
      query,
    );
    await sql`create trigger shoal_updates after update of revision on audit_export_destinations for each row execute function shoal_notify()`.execute(
      query,
    );
  },
};
