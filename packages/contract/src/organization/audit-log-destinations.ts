import {
  AuditLogExportDestination,
  AuditLogExportDestinationTestResult,
  CreateAuditLogExportDestination,
  Id,
  lazyObject,
  ListAuditLogExportDestinations,
  UpdateAuditLogExportDestination,
} from "@shoal/schemas";
import { defineEndpoint, empty, json, page } from "../base/endpoint.ts";

const area = "Audit Logs";
const id = lazyObject(() => ({
  /** The destination's id. */
  id: Id,
}));

/** The destination starts paused: test it, then set its `status` to `active`. */
export const createAuditLogExportDestination = defineEndpoint({
  operationId: "auditLogs.exportDestinations.create",
  area,
  plane: "control",
  moves: ["write destinations"],
  method: "POST",
  idempotency: "transaction",
  path: "/audit-logs/export/destinations",
  summary: "Create an export destination for the audit log.",
  body: json(CreateAuditLogExportDestination),
  responses: { 201: json(AuditLogExportDestination) },
  errors: [400, 401, 403, 409, 500],
});

/** Newest first. */
export const listAuditLogExportDestinations = defineEndpoint({
  operationId: "auditLogs.exportDestinations.list",
  area,
  plane: "control",
  moves: ["read destinations"],
  method: "GET",
  path: "/audit-logs/export/destinations",
  summary: "List the export destinations of the audit log.",
  query: ListAuditLogExportDestinations,
  responses: { 200: page(AuditLogExportDestination) },
  errors: [400, 401, 403, 500],
});

/** Shows the progress of the export and its last error. */
export const getAuditLogExportDestination = defineEndpoint({
  operationId: "auditLogs.exportDestinations.get",
  area,
  plane: "control",
  moves: ["read destinations"],
  method: "GET",
  path: "/audit-logs/export/destinations/{id}",
  summary: "Get an export destination of the audit log.",
  params: id,
  responses: { 200: json(AuditLogExportDestination) },
  errors: [401, 403, 404, 500],
});

/** Absent fields stay unchanged. */
export const updateAuditLogExportDestination = defineEndpoint({
  operationId: "auditLogs.exportDestinations.update",
  area,
  plane: "control",
  moves: ["write destinations"],
  method: "PATCH",
  path: "/audit-logs/export/destinations/{id}",
  summary: "Change, pause or resume an export destination of the audit log.",
  params: id,
  body: json(UpdateAuditLogExportDestination),
  responses: { 200: json(AuditLogExportDestination) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Exported objects stay in the bucket. */
export const deleteAuditLogExportDestination = defineEndpoint({
  operationId: "auditLogs.exportDestinations.delete",
  area,
  plane: "control",
  moves: ["write destinations"],
  method: "DELETE",
  path: "/audit-logs/export/destinations/{id}",
  summary: "Delete an export destination of the audit log.",
  params: id,
  responses: { 204: empty },
  errors: [401, 403, 404, 500],
});

/** Assumes the role and writes one object, as an export does. */
export const testAuditLogExportDestination = defineEndpoint({
  operationId: "auditLogs.exportDestinations.test",
  area,
  plane: "control",
  moves: ["write destinations"],
  method: "POST",
  path: "/audit-logs/export/destinations/{id}/test",
  summary: "Test an export destination of the audit log.",
  params: id,
  responses: { 200: json(AuditLogExportDestinationTestResult) },
  errors: [401, 403, 404, 500],
});
