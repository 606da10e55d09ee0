import type { Endpoint } from "@shoal/contract";
import { ServiceError } from "./service-error.ts";

/** The 501 for an operation that is declared but not implemented. */
export function notImplementedError({ method, operationId, path }: Endpoint): ServiceError {
  return new ServiceError(
    501,
    "not_implemented",
    `This version of Shoal knows ${operationId} (${method} ${path}) but does not support it yet.`,
    { hint: "Try a newer version; docs/operations.md lists the supported operations." },
  );
}
