import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { ExportDestinations } from "./destinations.ts";

export function exportDestinationHandlers(
  destinations: ExportDestinations,
): Handlers<OperationsOf<"auditLogs.exportDestinations">, Access> {
  return {
    createAuditLogExportDestination: ({ body, context }) => destinations.create(context.key, body),
    listAuditLogExportDestinations: ({ query, context }) => destinations.list(context.key, query),
    getAuditLogExportDestination: ({ params, context }) => destinations.get(context.key, params.id),
    updateAuditLogExportDestination: ({ params, body, context }) => destinations.update(context.key, params.id, body),
    deleteAuditLogExportDestination: ({ params, context }) => destinations.delete(context.key, params.id),
    testAuditLogExportDestination: ({ params, context }) => destinations.test(context.key, params.id),
  };
}
