import { notifyChanges } from "./functions.ts";

export const console: readonly string[] = [
  // Persons of the OpenID Connect provider, separately for each audience of its tokens.
  `create table users (
    id text collate "C" primary key,
    audience text collate "C" not null check (audience in ('console', 'mcp')),
    issuer text collate "C" not null,
    subject text collate "C" not null,
    name text not null,
    email text not null,
    grants jsonb not null,
    valid_until timestamptz(3) not null,
    created_at timestamptz(3) not null default now(),
    unique (issuer, subject, audience)
  )`,
  ...notifyChanges("users"),

  // The cookie contains the token; the row has its SHA-256.
  `create table console_sessions (
    id text collate "C" primary key,
    token_hash bytea not null unique,
    key_id text collate "C" references api_keys on delete cascade,
    user_id text collate "C" references users on delete cascade,
    refresh_token bytea,
    checked_at timestamptz(3) not null default now(),
    created_at timestamptz(3) not null default now(),
    last_used_at timestamptz(3) not null default now(),
    expires_at timestamptz(3) not null,
    check ((key_id is null) <> (user_id is null))
  )`,
  "create index console_sessions_by_key on console_sessions (key_id, created_at)",
  "create index console_sessions_by_user on console_sessions (user_id, created_at)",
  "create index console_sessions_by_expiry on console_sessions (expires_at)",

  `create table console_links (
    code_hash bytea primary key,
    key_id text collate "C" not null references api_keys on delete cascade,
    created_at timestamptz(3) not null default now(),
    expires_at timestamptz(3) not null,
    used_at timestamptz(3)
  )`,
  "create index console_links_by_key on console_links (key_id, created_at)",
];
