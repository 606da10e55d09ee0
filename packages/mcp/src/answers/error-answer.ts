import type { CallToolResult } from "@modelcontextprotocol/server";
import { contract, type Endpoint } from "@shoal/contract";
import { type Failure, failureOfAnswer, failureText, forTools, type ToolNames } from "@shoal/contract/agent";
import { ApiError, isShoalError } from "@shoal/transport";
import { ToolError } from "../base/tool-error.ts";

const tools: ToolNames = new Map(
  Object.values<Endpoint>(contract).flatMap(({ operationId, tool }) =>
    tool === undefined ? [] : [[operationId, tool] as const],
  ),
);

/** An error that a model can act on: code, message, next step. */
export function errorAnswer(error: unknown): CallToolResult {
  const failure = failureOf(error);
  const { code, fields = {}, hint, message } = failure;
  return {
    isError: true,
    content: [{ type: "text", text: failureText(failure, tools) }],
    _meta: {
      "shoal/error": {
        code,
        message: forTools(message, tools),
        ...(hint !== undefined && { hint: forTools(hint, tools) }),
        ...fields,
      },
    },
  };
}

function failureOf(error: unknown): Failure {
  if (error instanceof ToolError) return error;
  if (ApiError.isInstance(error)) return failureOfAnswer(error);
  if (isShoalError(error)) return { code: error.code, message: error.message, hint: hints[error.code] };
  // The text of an unknown error may contain anything.
  return { code: "internal_error", message: "The tool failed.", hint: "Try again, or report the failure." };
}

const hints: Readonly<Record<string, string>> = {
  connection_failed: "Check that the service runs (`shoal serve`), then try again.",
  timeout: "Check the page with snapshot, then try again.",
};
