import { PlacementError } from "@shoal/placement";
import { messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { Log } from "../../../observability/log/log.ts";
import { explainOutage } from "../../../storage/errors/outages.ts";

/** Returns a 507 for a full disk, otherwise a 500 with an entry in the log. */
export function explainStart(cause: unknown, sessionId: string, log: Log): unknown {
  const explained = explainOutage(cause);
  if (ServiceError.isInstance(explained)) return explained;
  if (PlacementError.isInstance(cause) && cause.code === "no_space") {
    log.warn({ session_id: sessionId, err: cause }, "the browser was not started: the disk is full");
    return new ServiceError(507, "insufficient_storage", cause.message, { cause, retryAfterSeconds: 30 });
  }
  log.error({ session_id: sessionId, err: cause }, "the browser did not start");
  return new ServiceError(500, "internal_error", `The browser did not start: ${messageOf(cause)}.`, {
    hint: "Try again; `shoal doctor` examines the machine.",
    cause,
  });
}
