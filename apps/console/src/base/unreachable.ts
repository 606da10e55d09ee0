import { ApiError, ConnectionError, TimeoutError } from "@shoal/client";

/** The service did not answer a request that was not sent with its client. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

/** Statuses of a proxy whose service does not answer. */
export const gatewayStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

/** The service, or the way to it, is down: the same request may work later. */
export function isUnreachable(error: unknown): boolean {
  if (ApiError.isInstance(error))
    return error.status === 502 || error.status === 504 || (error.status === 503 && error.code === "shutting_down");
  return error instanceof UnreachableError || ConnectionError.isInstance(error) || TimeoutError.isInstance(error);
}
