import type { Timestamp, TimestampOfInsert } from "./column-types.ts";

/** A person who is signed in to the console. */
export interface ConsoleSessionsTable {
  id: string;
  /** SHA-256 of the token in the cookie. */
  token_hash: Buffer;
  key_id: string;
  created_at: TimestampOfInsert;
  /** Updated once a minute at most. */
  last_used_at: TimestampOfInsert;
  /** The end without regard to use. */
  expires_at: Timestamp;
}

/** One-time codes that start a session of the console. */
export interface ConsoleLinksTable {
  code_hash: Buffer;
  key_id: string;
  created_at: TimestampOfInsert;
  expires_at: Timestamp;
}
