export const console: readonly string[] = [
  // The cookie contains the token; the row has its SHA-256.
  `create table console_sessions (
    id text collate "C" primary key,
    token_hash bytea not null unique,
    key_id text collate "C" not null references api_keys on delete cascade,
    created_at timestamptz(3) not null default now(),
    last_used_at timestamptz(3) not null default now(),
    expires_at timestamptz(3) not null
  )`,
  "create index console_sessions_by_key on console_sessions (key_id, created_at)",
  "create index console_sessions_by_expiry on console_sessions (expires_at)",

  `create table console_links (
    code_hash bytea primary key,
    key_id text collate "C" not null references api_keys on delete cascade,
    created_at timestamptz(3) not null default now(),
    expires_at timestamptz(3) not null
  )`,
  "create index console_links_by_key on console_links (key_id, created_at)",
];
