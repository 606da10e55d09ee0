import type { CallToolResult } from "@modelcontextprotocol/server";
import { ApiError, isShoalError } from "@shoal/transport";
import { ToolError } from "../base/tool-error.ts";

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly details?: readonly string[];
}

/** An error that a model can act on: code, message, next step. */
export function errorAnswer(error: unknown): CallToolResult {
  const failure = failureOf(error);
  const { code, fields = {} } = failure;
  const message = forTools(failure.message);
  const hint = failure.hint && forTools(failure.hint);
  const details = (failure.details ?? []).map(forTools);
  const rows = [`${code}: ${message}`, ...details];
  if (Object.keys(fields).length > 0) rows.push(JSON.stringify(fields));
  if (hint !== undefined && !message.includes(hint)) rows.push(`Next step: ${hint}`);
  return {
    isError: true,
    content: [{ type: "text", text: rows.join("\n") }],
    _meta: { "shoal/error": { code, message, ...(hint !== undefined && { hint }), ...fields } },
  };
}

function failureOf(error: unknown): Failure {
  if (error instanceof ToolError) return error;
  if (ApiError.isInstance(error)) {
    const { hint, ...fields } = error.fields;
    return {
      code: error.code,
      message: error.message,
      hint: typeof hint === "string" ? hint : undefined,
      fields,
      details: (error.details ?? []).flatMap(({ message }) => message ?? []),
    };
  }
  if (isShoalError(error)) return { code: error.code, message: error.message, hint: hints[error.code] };
  // The text of an unknown error may contain anything.
  return { code: "internal_error", message: "The tool failed.", hint: "Try again, or report the failure." };
}

/** The service names its operations; a model knows tools. */
const toolsOfOperations: Readonly<Record<string, string>> = {
  "browsers.create": "open_browser",
  "browsers.delete": "close_browser",
  "browsers.list": "list_browsers",
  "browsers.observe": "snapshot",
  "browsers.read": "read",
  "browsers.screenshot": "screenshot",
  "browsers.pdf": "pdf",
  "browsers.saveProfile": "save_profile",
  "browsers.fs.listFiles": "list_files",
  "browsers.fs.readFile": "read_file",
  "browsers.fs.writeFile": "write_file",
  "browsers.playwright.execute": "evaluate",
  "browsers.process.exec": "run",
  "profiles.list": "list_profiles",
};

function forTools(message: string): string {
  return message.replaceAll(/\b(?:browsers|profiles)\.[A-Za-z.]*[A-Za-z]/g, (name) => toolsOfOperations[name] ?? name);
}

const hints: Readonly<Record<string, string>> = {
  connection_failed: "Check that the service runs (`shoal serve`), then try again.",
  timeout: "Check the page with snapshot, then try again.",
};
