import { contract, defineEndpoint, type OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { AuditLogs } from "./audit-logs.ts";

/** The whole export as one file, for links of the console. Programs fetch chunks, which have checksums. */
export const auditLogFile = defineEndpoint({ ...contract.exportAuditLogsChunk, path: "/console/audit-log" });

export function auditLogHandlers(auditLogs: AuditLogs): Handlers<OperationsOf<"auditLogs">, Access> {
  return {
    listAuditLogs: ({ query, context }) => auditLogs.list(context.key, query),
    exportAuditLogsChunk: ({ query, context }) => auditLogs.exportChunk(context.key, query),
    verifyAuditLogs: ({ query, context }) => auditLogs.verify(context.key, query),
  };
}
