import { ExportUsage, ListUsage, UsageRow } from "@shoal/schemas";
import { bytes, defineEndpoint, page } from "../base/endpoint.ts";

/** Use of sessions, network and storage by day. */
const area = "Usage";

/** Newest day first. Figures lag behind by up to a minute. An organisation-wide key sees all projects, or the project that the request names; a project's key sees that project only. */
export const listUsage = defineEndpoint({
  operationId: "usage.list",
  area,
  plane: "control",
  moves: ["read organization"],
  method: "GET",
  path: "/usage",
  summary: "List usage by day.",
  query: ListUsage,
  responses: { 200: page(UsageRow) },
  errors: [400, 401, 404, 500],
});

/** All rows of the period, newest day first, as CSV or JSON lines. In CSV, texts that a spreadsheet would read as a formula start with an apostrophe. */
export const exportUsage = defineEndpoint({
  operationId: "usage.export",
  area,
  plane: "control",
  moves: ["read organization"],
  method: "GET",
  path: "/usage/export",
  summary: "Download usage by day.",
  query: ExportUsage,
  responses: { 200: bytes("application/octet-stream") },
  errors: [400, 401, 404, 500],
});
