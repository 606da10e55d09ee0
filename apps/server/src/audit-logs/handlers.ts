import type * as endpoints from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../auth/access.ts";
import type { AuditLogs } from "./audit-logs.ts";

type AuditLogEndpoints = Pick<typeof endpoints, "listAuditLogs" | "exportAuditLogsChunk" | "verifyAuditLogs">;

export function auditLogHandlers(auditLogs: AuditLogs): Handlers<AuditLogEndpoints, Access> {
  return {
    listAuditLogs: ({ query, context }) => auditLogs.list(context.key, query),
    exportAuditLogsChunk: ({ query, context }) => auditLogs.exportChunk(context.key, query),
    verifyAuditLogs: ({ query, context }) => auditLogs.verify(context.key, query),
  };
}
