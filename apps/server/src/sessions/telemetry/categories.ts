import {
  capturedAtStart,
  type CapturedCategories,
  changedCategories,
  shownCategories,
  type TelemetryRequest,
} from "@shoal/contract/captured";
import { ServiceError } from "@shoal/router";
import type { BrowserTelemetry } from "@shoal/schemas";

export {
  type CapturedCategories,
  categoriesNamed,
  defaultCategories,
  namesOf,
  shownCategories,
} from "@shoal/contract/captured";

/** Of a running session. @throws {ServiceError} 400 for contradictory fields. */
export function selectCategories(
  request: TelemetryRequest,
  current: CapturedCategories | undefined,
): CapturedCategories | undefined {
  return captured(changedCategories(request, current));
}

/**
 * Of a pool or a connection, whose sessions start later: they capture the default if the request names nothing.
 * @throws {ServiceError} 400 for contradictory fields, 501 for captured events without storage.
 */
export function categoriesForLater(
  request: TelemetryRequest,
  current: CapturedCategories | undefined,
): CapturedCategories | undefined {
  if (request?.storage?.enabled === false && request.enabled === undefined)
    selectCategories({ ...request, enabled: true }, current);
  return selectCategories(request, current);
}

/** True if each category is switched off by name. Otherwise the default of the project may switch some on. */
export function isOff(telemetry: TelemetryRequest): boolean {
  const choices = new Map(Object.entries(telemetry?.browser ?? {}));
  return Object.keys(shownCategories(undefined).browser ?? {}).every((name) => choices.get(name)?.enabled === false);
}

/** Of a new session. @throws {ServiceError} 400 for contradictory fields. */
export function categoriesAtStart(
  request: TelemetryRequest,
  standard: CapturedCategories | undefined,
): CapturedCategories | undefined {
  return captured(capturedAtStart(request, standard));
}

function captured(outcome: ReturnType<typeof changedCategories>): CapturedCategories | undefined {
  if ("refusal" in outcome) throw ServiceError.of(outcome.refusal);
  return outcome.captured;
}

export function shownExport(destinationId: string): Pick<BrowserTelemetry, "export"> {
  return { export: { otlp: { destination: destinationId, enabled: true } } };
}
