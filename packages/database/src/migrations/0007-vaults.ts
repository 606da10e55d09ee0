import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { notifyChanges, requireOpenProject } from "./foundation/functions.ts";

/** Stores of secrets for sessions. */
export const vaults: Migration = {
  async up(query: Kysely<unknown>) {
    for (const statement of [
      `create table vaults (
        id text collate "C" primary key,
        project_id text collate "C" not null references projects,
        name text collate "C" not null,
        name_folded text collate "C" generated always as (shoal_fold(name)) stored,
        public_key jsonb,
        private_key bytea,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        unique (project_id, name)
      )`,
      "create index vaults_by_age on vaults (project_id, created_at desc, id)",
      "create index vaults_by_name on vaults (project_id, name_folded)",
      requireOpenProject("vaults"),

      `create table vault_items (
        id text collate "C" primary key,
        vault_id text collate "C" not null references vaults on delete cascade,
        key text collate "C" not null,
        definition jsonb not null,
        request bytea not null,
        version integer not null default 1,
        events integer not null default 0,
        collection_id text collate "C",
        collection_key_id text collate "C",
        collection_expires_at timestamptz(3),
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        unique (vault_id, key)
      )`,
      ...notifyChanges("vault_items"),

      `create table vault_values (
        item_id text collate "C" not null references vault_items on delete cascade,
        name text collate "C" not null,
        sealed bytea not null,
        primary key (item_id, name)
      )`,

      `create table vault_item_events (
        item_id text collate "C" not null references vault_items on delete cascade,
        number integer not null,
        id text collate "C" not null,
        name text collate "C" not null,
        session_id text collate "C",
        data jsonb,
        created_at timestamptz(3) not null default now(),
        primary key (item_id, number)
      )`,
    ])
      await sql.raw(statement).execute(query);
  },
};
