import type { Generated } from "kysely";
import type { OptionalTimestamp, Timestamp, TimestampOfInsert } from "./column-types.ts";

/** At most one of a session is `requested` or `taken`. The end of the session cancels it. */
export interface HandoffsTable {
  id: string;
  project_id: string;
  session_id: string;
  /** The link ends with this key. */
  key_id: string;
  status: Generated<"requested" | "taken" | "released" | "expired" | "canceled">;
  message: string;
  on_automation: "wait" | "refuse";
  label: string | null;
  created_at: TimestampOfInsert;
  expires_at: Timestamp;
  taken_at: OptionalTimestamp;
  ended_at: OptionalTimestamp;
  released_by: Generated<string | null>;
  note: Generated<string | null>;
}

/** The token of a link is derived from its id, so it is not stored. */
export interface LiveViewLinksTable {
  id: string;
  project_id: string;
  session_id: string;
  /** The link ends with this key. */
  key_id: string;
  scope: "view" | "operate";
  label: string | null;
  created_at: TimestampOfInsert;
  expires_at: Timestamp;
}
