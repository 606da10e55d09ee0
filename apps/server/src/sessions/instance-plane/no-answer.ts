import { ServiceError } from "@shoal/router";

/** True if the instance's backlog of connections is full. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && error.code === "EAGAIN") || isBusy(error.cause);
}

/** Explains a request without an answer; returns a ServiceError unchanged. */
export function noAnswer(cause: unknown, id?: string): ServiceError {
  if (ServiceError.isInstance(cause)) return cause;
  const whose = id === undefined ? "this browser" : `browser ${id}`;
  if (isBusy(cause))
    return new ServiceError(503, "overloaded", `The instance of ${whose} has too many requests at once.`, {
      hint: "Send fewer, and repeat this one.",
      retryAfterSeconds: 1,
      cause,
    });
  return new ServiceError(503, "browser_not_running", `The instance of ${whose} did not answer.`, {
    hint: "Inspect the session with browsers.get and include_deleted, and repeat the request if it still runs.",
    cause,
  });
}
