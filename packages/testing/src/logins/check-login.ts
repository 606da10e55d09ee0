import { createId } from "@shoal/primitives";
import type { TimelineEvent } from "@shoal/schemas";
import type { ConnectionRow } from "../state/store.ts";

/** A check ends at once. It finds the login that `fake.expireLogin` ended. */
export function checkLogin(connection: ConnectionRow): TimelineEvent {
  const { isExpired, status } = connection;
  if (isExpired) connection.status = "NEEDS_AUTH";
  const check: TimelineEvent = {
    type: "health_check",
    id: createId(),
    timestamp: new Date().toISOString(),
    status: connection.status,
    previous_status: status,
    ...(connection.status === "NEEDS_AUTH" && { error_message: "The page shows a login form." }),
  };
  connection.checks.push(check);
  return check;
}
