import {
  capturedAtStart,
  type CapturedCategories,
  changedCategories,
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

/** Of a running session or a pool. @throws {ServiceError} 400 for contradictory fields. */
export function selectCategories(
  request: TelemetryRequest,
  current: CapturedCategories | undefined,
): CapturedCategories | undefined {
  return captured(changedCategories(request, current));
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
