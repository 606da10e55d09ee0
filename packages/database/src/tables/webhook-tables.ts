import type { Generated } from "kysely";
import type { OptionalTimestamp, TimestampOfInsert } from "./column-types.ts";

export interface WebhooksTable {
  id: string;
  project_id: string;
  url: string;
  /** Of `url`, with a port if it has one. */
  host: string;
  /** Empty = all. */
  event_types: string[];
  description: string | null;
  enabled: Generated<boolean>;
  /** `null` unless the service disabled it. */
  disabled_reason: Generated<string | null>;
  /** Sealed, like `previous_secret`. */
  secret: Buffer;
  previous_secret: Generated<Buffer | null>;
  previous_secret_expires_at: OptionalTimestamp;
  /** The first failure since the last success. */
  failing_since: OptionalTimestamp;
  dropped_at: OptionalTimestamp;
  created_at: TimestampOfInsert;
  updated_at: TimestampOfInsert;
}

/** `shoal_emit` of the migrations inserts rows. */
export interface WebhookDeliveriesTable {
  id: string;
  webhook_id: string;
  event_id: string;
  event_type: string;
  /** The body of the request. */
  payload: string;
  status: Generated<"pending" | "succeeded" | "failed">;
  /** Increases with each claim, so that a server that lost its lease cannot store a result. */
  attempts: Generated<number>;
  /** Failed attempts since the event, or since a user sent it again. */
  retries: Generated<number>;
  next_attempt_at: OptionalTimestamp;
  last_attempt_at: OptionalTimestamp;
  /** Another server may send it afterwards. */
  lease_until: OptionalTimestamp;
  response_status: Generated<number | null>;
  duration_ms: Generated<number | null>;
  error: Generated<string | null>;
  created_at: TimestampOfInsert;
}
