import type * as endpoints from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../auth/access.ts";
import type { ExportDestinations } from "./destinations.ts";

type ExportEndpoints = Pick<
  typeof endpoints,
  | "createAuditLogExportDestination"
  | "listAuditLogExportDestinations"
  | "getAuditLogExportDestination"
  | "updateAuditLogExportDestination"
  | "deleteAuditLogExportDestination"
  | "testAuditLogExportDestination"
>;

export function exportDestinationHandlers(destinations: ExportDestinations): Handlers<ExportEndpoints, Access> {
  return {
    createAuditLogExportDestination: ({ body, context }) => destinations.create(context.key, body),
    listAuditLogExportDestinations: ({ query, context }) => destinations.list(context.key, query),
    getAuditLogExportDestination: ({ params, context }) => destinations.get(context.key, params.id),
    updateAuditLogExportDestination: ({ params, body, context }) => destinations.update(context.key, params.id, body),
    deleteAuditLogExportDestination: ({ params, context }) => destinations.delete(context.key, params.id),
    testAuditLogExportDestination: ({ params, context }) => destinations.test(context.key, params.id),
  };
}
