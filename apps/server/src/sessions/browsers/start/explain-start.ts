import { PlacementError } from "@shoal/placement";
import { messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { Log } from "../../../log/log.ts";
import { explainOutage } from "../../../storage/errors/outages.ts";

const retryAfterSeconds = 30;

/** Returns a 507 for a full disk, a 529 or 503 for a full or silent cluster, otherwise a 500; with an entry in the log. */
export function explainStart(cause: unknown, sessionId: string, log: Log): unknown {
  const explained = explainOutage(cause);
  if (ServiceError.isInstance(explained)) return explained;
  if (PlacementError.isInstance(cause) && cause.code === "no_space") {
    log.warn({ session_id: sessionId, err: cause }, "the browser was not started: the disk is full");
    return new ServiceError(507, "insufficient_storage", cause.message, { cause, retryAfterSeconds });
  }
  if (PlacementError.isInstance(cause) && (cause.code === "no_capacity" || cause.code === "unavailable")) {
    const [status, code] =
      cause.code === "no_capacity" ? ([529, "capacity_exhausted"] as const) : ([503, "not_ready"] as const);
    log.warn({ session_id: sessionId, err: cause }, "the browser was not started: no room for it, or no answer");
    return new ServiceError(status, code, `The browser did not start: ${sentence(cause.message)}`, {
      // A cluster names no time; a queue does, and its message says when to try again.
      ...(cause.retryAfterSeconds === undefined && {
        hint: "Try again after the time in `Retry-After`. The operator of the service can enlarge the cluster.",
      }),
      cause,
      retryAfterSeconds: cause.retryAfterSeconds ?? retryAfterSeconds,
    });
  }
  log.error({ session_id: sessionId, err: cause }, "the browser did not start");
  return new ServiceError(500, "internal_error", `The browser did not start: ${sentence(messageOf(cause))}`, {
    hint: "Try again; `shoal doctor` examines the machine.",
    cause,
  });
}

function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}
