import { badInput, ServiceError } from "@shoal/router";
import type { BrowserTelemetryRequest } from "@shoal/schemas";
import type * as z from "zod/mini";
import { isForeignKeyViolation } from "../../../storage/errors/database-errors.ts";
import {
  destinationField,
  type TelemetryDestinations,
} from "../../../resources/telemetry-destinations/destinations.ts";

/**
 * @param current - previous destination. For ids, `null` = none.
 * @throws {ServiceError} 404 for an unknown destination; 400 when the destination is missing.
 */
export async function chooseDestination(
  destinations: Pick<TelemetryDestinations, "choose">,
  projectId: string,
  request: z.output<typeof BrowserTelemetryRequest> | null | undefined,
  current: string | null,
): Promise<string | null> {
  if (!request) return current;
  if (request.enabled === false) return null;
  const otlp = request.export?.otlp;
  if (otlp?.enabled === false) return null;
  if (otlp?.destination !== undefined) return destinations.choose(projectId, otlp.destination);
  if (otlp?.enabled === true && current === null)
    throw badInput(destinationField, "expected the id or the name of a destination");
  return current;
}

/** Converts the database error for a deleted destination of a session or pool. */
export function explainDestination(error: unknown): unknown {
  if (!isForeignKeyViolation(error, /_telemetry_destination_id_fkey$/)) return error;
  const message = `${destinationField}: the telemetry destination was deleted during the request`;
  return new ServiceError(404, "not_found", `${message}.`, { details: [{ code: "not_found", message }], cause: error });
}
