import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** Who asked what, and the chain that holds the entries together. */
export const auditLogs: Migration = {
  id: "0003_audit_logs",
  async up(query) {
    // Without references: an entry outlives what it speaks of.
    await sql`
      create table audit_logs (
        sequence bigint primary key,
        id text collate "C" not null,
        at timestamptz(3) not null,
        project_id text collate "C",
        auth_strategy text collate "C" not null,
        user_id text collate "C" not null,
        email text collate "C" not null,
        method text collate "C" not null,
        path text collate "C" not null,
        route text collate "C" not null,
        operation text collate "C" not null,
        status integer not null,
        duration_ms integer not null,
        domain text collate "C" not null,
        client_ip text collate "C" not null,
        user_agent text collate "C" not null,
        request_id text collate "C" not null,
        previous_hash bytea not null,
        hash bytea not null
      )`.execute(query);
    await sql`create index audit_logs_by_age on audit_logs (at desc, sequence desc)`.execute(query);
    await sql`create index audit_logs_by_project on audit_logs (project_id, at desc, sequence desc)`.execute(query);

    await sql`
      create table audit_chain (
        is_only boolean primary key default true check (is_only),
        first_sequence bigint not null default 1,
        first_previous_hash bytea not null default decode(repeat('00', 32), 'hex'),
        last_sequence bigint not null default 0,
        last_hash bytea not null default decode(repeat('00', 32), 'hex'),
        broken_at bigint,
        seal bytea
      )`.execute(query);
    await sql`insert into audit_chain default values`.execute(query);
  },
};
