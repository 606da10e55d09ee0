import {
  CreateFlow,
  ExportFlow,
  Flow,
  FlowSummary,
  GetFlow,
  Id,
  ImportFlow,
  lazyObject,
  ListFlows,
  RecordedFlow,
  RecordFlow,
  UpdateFlow,
} from "@shoal/schemas";
import { bytes, defineEndpoint, empty, json, page } from "../base/endpoint.ts";
import { sessionId } from "../base/session-id.ts";

/** Actions on pages that the service repeats without a model. */
const area = "Flows";
const byId = lazyObject(() => ({
  /** The flow's id. */
  id: Id,
}));

/** A project has up to 1,000 flows. Specific to Shoal. */
export const createFlow = defineEndpoint({
  operationId: "flows.create",
  area,
  plane: "control",
  moves: ["write page_content"],
  method: "POST",
  idempotency: "transaction",
  path: "/flows",
  summary: "Create a flow from steps.",
  body: json(CreateFlow),
  responses: { 201: json(Flow) },
  errors: [400, 401, 403, 409, 500],
});

/** Makes a flow of the successful actions of `browsers.act` in a running session, and of what persons do in its live views and handoffs: no recording needs to start before. The session remembers the latest 500. Elements get their role, name and other ways to find them; new pages become expectations. Texts in fields for secrets are not remembered: they become secret parameters. Specific to Shoal. */
export const recordFlow = defineEndpoint({
  operationId: "flows.record",
  area,
  plane: "control",
  moves: ["read page_content", "write page_content"],
  method: "POST",
  path: "/browsers/{id}/flows",
  summary: "Create a flow from the actions of a session.",
  params: sessionId,
  body: json(RecordFlow),
  responses: { 201: json(RecordedFlow) },
  errors: [400, 401, 403, 404, 409, 500, 503],
});

/** Reads a file of `flows.export`. Arbitrary Playwright programs are not understood. Specific to Shoal. */
export const importFlow = defineEndpoint({
  operationId: "flows.import",
  area,
  plane: "control",
  moves: ["write page_content"],
  method: "POST",
  idempotency: "transaction",
  path: "/flows/import",
  summary: "Create a flow from an exported file.",
  body: json(ImportFlow),
  responses: { 201: json(Flow) },
  errors: [400, 401, 403, 409, 500],
});

/** Newest first, without steps. Specific to Shoal. */
export const listFlows = defineEndpoint({
  operationId: "flows.list",
  area,
  plane: "control",
  moves: ["read page_content"],
  method: "GET",
  path: "/flows",
  summary: "List flows.",
  query: ListFlows,
  responses: { 200: page(FlowSummary) },
  errors: [400, 401, 403, 500],
});

/** The latest version, or an earlier one. Specific to Shoal. */
export const getFlow = defineEndpoint({
  operationId: "flows.get",
  area,
  plane: "control",
  moves: ["read page_content"],
  method: "GET",
  path: "/flows/{id}",
  summary: "Get a flow.",
  params: byId,
  query: GetFlow,
  responses: { 200: json(Flow) },
  errors: [400, 401, 403, 404, 500],
});

/** Absent fields stay unchanged. Other steps, parameters or another start are a new version; the latest 50 are kept. Specific to Shoal. */
export const updateFlow = defineEndpoint({
  operationId: "flows.update",
  area,
  plane: "control",
  moves: ["read page_content", "write page_content"],
  method: "PATCH",
  path: "/flows/{id}",
  summary: "Change a flow.",
  params: byId,
  body: json(UpdateFlow),
  responses: { 200: json(Flow) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** With all its versions. Specific to Shoal. */
export const deleteFlow = defineEndpoint({
  operationId: "flows.delete",
  area,
  plane: "control",
  moves: ["write page_content"],
  method: "DELETE",
  path: "/flows/{id}",
  summary: "Delete a flow.",
  params: byId,
  responses: { 204: empty },
  errors: [400, 401, 403, 404, 500],
});

/** A Playwright test reads parameters and secrets from environment variables, and ends with the flow as a comment, for `flows.import`. Specific to Shoal. */
export const exportFlow = defineEndpoint({
  operationId: "flows.export",
  area,
  plane: "control",
  moves: ["read page_content"],
  method: "GET",
  path: "/flows/{id}/export",
  summary: "Download a flow as a file.",
  params: byId,
  query: ExportFlow,
  responses: { 200: bytes("text/plain") },
  errors: [400, 401, 403, 404, 500],
});
