import {
  Id,
  InvokeWebMcpTool,
  lazyObject,
  ListWebMcpTools,
  WebMcpInvocation,
  WebMcpOutcomeUnknown,
  WebMcpTools,
} from "@shoal/schemas";
import { defineEndpoint, json } from "../base/endpoint.ts";

/** Tools of all tabs, by reference. `browsers.tools` has those of one page, by name. */
const area = "Browser WebMCP";
const id = lazyObject(() => ({
  /** The session's id, or the name of a running session. */
  id: Id,
}));

/** Those of all frames of all tabs, as registered at this moment. */
export const listWebMcpTools = defineEndpoint({
  operationId: "browsers.webmcp.listTools",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true },
  moves: ["read page_content"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/webmcp/tools",
  summary: "List the tools of all tabs.",
  params: id,
  query: ListWebMcpTools,
  responses: { 200: json(WebMcpTools) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Waits for the tool's result. A failure of the tool is not an error of the operation: `status` has it. If the tab goes, a dialog opens or the time ends during the call, the answer is 504 `outcome_unknown`: the tool may have had effects. */
export const invokeWebMcpTool = defineEndpoint({
  operationId: "browsers.webmcp.invokeTool",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: true },
  moves: ["read page_content", "write page_content"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/webmcp/invoke",
  summary: "Call a tool by its reference.",
  params: id,
  body: json(InvokeWebMcpTool, { limitBytes: 2 ** 20 + 4096 }),
  responses: { 200: json(WebMcpInvocation) },
  errors: [400, 401, 403, 404, 409, 413, 500, 504],
  errorBodies: { 504: WebMcpOutcomeUnknown },
});
