import { badInput, ServiceError } from "@shoal/router";
import type { BrowserTelemetryRequest } from "@shoal/schemas";
import type * as z from "zod/mini";
import { isForeignKeyViolation } from "../database-errors.ts";
import { destinationField, type TelemetryDestinations } from "../telemetry-destinations/destinations.ts";

/**
 * Where telemetry is sent after a request.
 *
 * @param current - id of the destination before it; `null` = none.
 * @returns the id of the destination; `null` = none.
 * @throws {ServiceError} 404 for a destination that is not there, 400 where none is named and none is known.
 */
export async function chooseDestination(
  destinations: Pick<TelemetryDestinations, "choose">,
  projectId: string,
  request: z.output<typeof BrowserTelemetryRequest> | null | undefined,
  current: string | null,
): Promise<string | null> {
  if (!request) return current;
  // Without telemetry there is nothing to send.
  if (request.enabled === false) return null;
  const otlp = request.export?.otlp;
  if (otlp?.enabled === false) return null;
  if (otlp?.destination !== undefined) return destinations.choose(projectId, otlp.destination);
  if (otlp?.enabled === true && current === null)
    throw badInput(`${destinationField}: expected the id or the name of a destination: telemetry is sent nowhere yet`);
  return current;
}

/** What an error of the database says of a session's, or a pool's, destination. */
export function explainDestination(error: unknown): unknown {
  if (!isForeignKeyViolation(error, /_telemetry_destination_id_fkey$/)) return error;
  const message = `${destinationField}: the telemetry destination was deleted meanwhile`;
  return new ServiceError(404, "not_found", `${message}.`, { details: [{ code: "not_found", message }], cause: error });
}
