import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { TelemetryDestinations } from "./destinations.ts";

export function telemetryDestinationHandlers(
  destinations: TelemetryDestinations,
): Handlers<OperationsOf<"telemetry.destinations">, Access> {
  return {
    createOtlpDestination: ({ body, context }) => destinations.create(context.projectId, body),
    listOtlpDestinations: ({ query, context }) => destinations.list(context.projectId, query),
    getOtlpDestination: ({ params, context }) => destinations.get(context.projectId, params.id_or_name),
    updateOtlpDestination: ({ params, body, context }) =>
      destinations.update(context.projectId, params.id_or_name, body),
    deleteOtlpDestination: ({ params, context }) => destinations.delete(context.projectId, params.id_or_name),
  };
}
