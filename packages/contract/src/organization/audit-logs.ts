import { AuditLogEntry, AuditLogVerification, ExportAuditLogs, ListAuditLogs, VerifyAuditLogs } from "@shoal/schemas";
import { bytes, defineEndpoint, json, tokenPage } from "../base/endpoint.ts";

/** Search and export past calls. */
const area = "Audit Logs";

/** Newest first, from `start` until before `end`, at most 30 days later. Filtered entries are not counted. */
export const listAuditLogs = defineEndpoint({
  operationId: "auditLogs.list",
  area,
  plane: "control",
  moves: ["read audit_log"],
  method: "GET",
  path: "/audit-logs",
  summary: "List audit log entries.",
  query: ListAuditLogs,
  responses: { 200: tokenPage(AuditLogEntry) },
  errors: [400, 401, 500],
});

/** At most 50000 entries as JSON lines, newest first. While `X-Has-More` is `true`, fetch the next chunk with the `cursor` from `X-Next-Cursor`. `X-Content-Sha256` is the SHA-256 of the bytes sent. */
export const exportAuditLogsChunk = defineEndpoint({
  operationId: "auditLogs.exportChunk",
  area,
  plane: "control",
  audited: true,
  moves: ["read audit_log"],
  method: "GET",
  path: "/audit-logs/export/chunk",
  summary: "Download a part of the audit log.",
  query: ExportAuditLogs,
  responses: {
    200: bytes("application/octet-stream", {
      headers: ["X-Has-More", "X-Next-Cursor", "X-Row-Count", "X-Content-Sha256"],
    }),
  },
  errors: [400, 401, 500],
});

/** Each entry contains the hash of the previous entry, and the newest is sealed with the service's secret, so later changes and removals are detected. Needs an organisation-wide key. */
export const verifyAuditLogs = defineEndpoint({
  operationId: "auditLogs.verify",
  area,
  plane: "control",
  moves: ["read audit_log"],
  method: "GET",
  path: "/audit-logs/verify",
  summary: "Check the integrity of the audit log.",
  query: VerifyAuditLogs,
  responses: { 200: json(AuditLogVerification) },
  errors: [400, 401, 403, 500],
});
