import type { ColumnType, Generated } from "kysely";
import type { OptionalTimestamp, Timestamp, TimestampOfInsert } from "./column-types.ts";

/** A person who is signed in to the console. */
export interface ConsoleSessionsTable {
  id: string;
  /** SHA-256 of the token in the cookie. */
  token_hash: Buffer;
  /** Either this or `user_id`. */
  key_id: string | null;
  user_id: Generated<string | null>;
  /** Sealed. */
  refresh_token: Generated<Buffer | null>;
  /** The provider confirmed the person at this time. */
  checked_at: TimestampOfInsert;
  created_at: TimestampOfInsert;
  /** Updated once a minute at most. */
  last_used_at: TimestampOfInsert;
  /** The end without regard to use. */
  expires_at: Timestamp;
}

/** Rights in one project, by id or name; `*` = in all. */
interface UserGrant {
  readonly project: string;
  readonly role: "viewer" | "operator" | "admin";
}

/** A person of the OpenID Connect provider. */
export interface UsersTable {
  id: string;
  /** Separate rows, because tokens of different kinds have different claims. */
  audience: "console" | "mcp";
  issuer: string;
  subject: string;
  name: string;
  email: string;
  grants: ColumnType<readonly UserGrant[], string, string>;
  /** The provider must confirm the person again. */
  valid_until: Timestamp;
  created_at: TimestampOfInsert;
}

/** One-time codes that start a session of the console. */
export interface ConsoleLinksTable {
  code_hash: Buffer;
  key_id: string;
  created_at: TimestampOfInsert;
  expires_at: Timestamp;
  used_at: OptionalTimestamp;
}
