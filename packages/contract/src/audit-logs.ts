import { AuditLogEntry, AuditLogVerification, ExportAuditLogs, ListAuditLogs, VerifyAuditLogs } from "@shoal/schemas";
import { bytes, defineEndpoint, json, tokenPage } from "./endpoint.ts";

const area = "Audit Logs";

/** Newest first. Begins at `start` and ends before `end`, at most 30 days later; what filters leave out is not counted. */
export const listAuditLogs = defineEndpoint({
  operationId: "auditLogs.list",
  area,
  plane: "control",
  method: "GET",
  path: "/audit-logs",
  summary: "List what was asked of the service.",
  query: ListAuditLogs,
  responses: { 200: tokenPage(AuditLogEntry) },
  errors: [400, 401, 500],
});

/** At most 50000 entries as JSON lines, newest first. The next chunk is fetched with the `cursor` that `X-Next-Cursor` gave, for as long as `X-Has-More` is `true`; `X-Content-Sha256` is the SHA-256 of the bytes sent. */
export const exportAuditLogsChunk = defineEndpoint({
  operationId: "auditLogs.exportChunk",
  area,
  plane: "control",
  method: "GET",
  path: "/audit-logs/export/chunk",
  summary: "Download a part of the audit log.",
  query: ExportAuditLogs,
  responses: { 200: bytes("application/octet-stream", { headers: ["X-Has-More", "X-Next-Cursor", "X-Row-Count", "X-Content-Sha256"] }) },
  errors: [400, 401, 500],
});

/** Each entry carries the hash of the one before it, and the newest is sealed with the service's secret, so that what was changed or removed later shows. Needs a key of the whole organisation. */
export const verifyAuditLogs = defineEndpoint({
  operationId: "auditLogs.verify",
  area,
  plane: "control",
  method: "GET",
  path: "/audit-logs/verify",
  summary: "Check that nobody tampered with the audit log.",
  query: VerifyAuditLogs,
  responses: { 200: json(AuditLogVerification) },
  errors: [400, 401, 403, 500],
});
