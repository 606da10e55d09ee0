import { sql } from "kysely";
import { randomBytes } from "node:crypto";
import type { Migration } from "../migrate.ts";

/** What servers over one database need to reach and to trust one another, to notice that one is gone, and to do a job once. */
export const replicas: Migration = {
  id: "0007_replicas",
  async up(query) {
    // A server of an earlier version leaves `life` empty: it beats more slowly, and is waited for longer.
    await sql`
      alter table servers
        add column life text collate "C" not null default '',
        add column address text,
        add column version text,
        add column secret_check bytea`.execute(query);

    await sql`create table replica_secret (is_only boolean primary key default true check (is_only), secret bytea not null)`.execute(query);
    await sql`insert into replica_secret (secret) values (${randomBytes(32)})`.execute(query);

    // Whose request holds the key: when that server is gone, the key is free.
    await sql`alter table idempotency_keys add column server_id text collate "C"`.execute(query);
    await sql`create index idempotency_keys_running on idempotency_keys (server_id) where status = 0`.execute(query);

    await sql`create table jobs (name text collate "C" primary key, ran_at timestamptz(3) not null)`.execute(query);
  },
};
