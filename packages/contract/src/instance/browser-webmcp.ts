import {
  AddCustomWebMcpTools,
  CustomWebMcpTools,
  Id,
  InvokeWebMcpTool,
  lazyObject,
  ListWebMcpTools,
  WebMcpInvocation,
  WebMcpOutcomeUnknown,
  WebMcpTools,
} from "@shoal/schemas";
import { defineEndpoint, empty, json } from "../base/endpoint.ts";
import { sessionId, sessionIdField } from "../base/session-id.ts";

/** Tools of all tabs, by reference. `browsers.tools` has those of one page, by name. */
const area = "Browser WebMCP";

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
  params: sessionId,
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
  params: sessionId,
  body: json(InvokeWebMcpTool, { limitBytes: 2 ** 20 + 4096 }),
  responses: { 200: json(WebMcpInvocation) },
  errors: [400, 401, 403, 404, 409, 413, 500, 504],
  errorBodies: { 504: WebMcpOutcomeUnknown },
});

/** They are in the process of `browsers.repl`, and end with it. */
export const listCustomWebMcpTools = defineEndpoint({
  operationId: "browsers.webmcp.listCustomTools",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: "scripts" },
  moves: ["read code"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/webmcp/custom-tools",
  summary: "List the custom tools of a session.",
  params: sessionId,
  responses: { 200: json(CustomWebMcpTools) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Adds all tools of the source, or none. The source runs in the process of `browsers.repl`, which starts if necessary; a reset, a timeout or a crash of the process removes the tools. `browsers.webmcp.listTools` shows them for each tab with a matching document. */
export const addCustomWebMcpTools = defineEndpoint({
  operationId: "browsers.webmcp.addCustomTools",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: "scripts" },
  moves: ["read code", "write code"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/webmcp/custom-tools",
  summary: "Add custom tools to a session.",
  params: sessionId,
  body: json(AddCustomWebMcpTools, { limitBytes: 16 * 2 ** 20 }),
  responses: { 201: json(CustomWebMcpTools) },
  errors: [400, 401, 403, 404, 409, 413, 429, 500, 503],
});

/** Calls of the tool that run are not ended. */
export const removeCustomWebMcpTool = defineEndpoint({
  operationId: "browsers.webmcp.removeCustomTool",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: "scripts" },
  moves: ["write code"],
  scope: ["browsers:use"],
  method: "DELETE",
  path: "/browsers/{id}/webmcp/custom-tools/{tool_id}",
  summary: "Remove a custom tool.",
  params: lazyObject(() => ({
    ...sessionIdField,
    /** Id of the tool, from `browsers.webmcp.listCustomTools`. */
    tool_id: Id,
  })),
  responses: { 204: empty },
  errors: [400, 401, 403, 404, 409, 500],
});
