import type { TimestampOfInsert } from "./column-types.ts";

/** Rows are removed two minutes after their last change. */
export interface RateLimitUsesTable {
  server_id: string;
  subject: string;
  used: number;
  began_at: TimestampOfInsert;
  changed_at: TimestampOfInsert;
}
