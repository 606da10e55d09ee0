import type { Endpoint } from "@shoal/contract";
import { ServiceError } from "./service-error.ts";

/** What an operation answers that is declared and cannot be done yet. */
export function notImplementedError({ method, operationId, path }: Endpoint): ServiceError {
  return new ServiceError(
    501,
    "not_implemented",
    `This version of Shoal knows ${operationId} (${method} ${path}) but cannot do it yet, so nothing was done. Try a newer version; docs/operations.md lists what works.`,
  );
}
