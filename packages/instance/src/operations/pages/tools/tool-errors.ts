import type { Refusal } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";

/** Tools named in a hint. */
const maxNamed = 10;
const maxNameCharacters = 100;
const maxReasonCharacters = 300;

export const noWebMcp = {
  status: 409,
  code: "conflict",
  problem: "The browser of this session has no WebMCP",
  hint: "Ask the operator for Chromium 156 or newer, or use the page with `act`.",
} as const satisfies Refusal;

/** @param names - of the page's tools. */
export function toolNotFound(name: string, origin: string | undefined, names: readonly string[]): Refusal {
  return {
    status: 404,
    code: "tool_not_found",
    problem: `The page has no tool ${quoted(name)}${origin === undefined ? "" : ` of ${quoted(origin)}`}`,
    field: "body.name",
    hint:
      names.length === 0
        ? "It registers no tools. Use it with `act`."
        : `Its tools: ${names.slice(0, maxNamed).map(quoted).join(", ")}${names.length > maxNamed ? ` and ${String(names.length - maxNamed)} more` : ""}.`,
  };
}

export function ambiguousTool(name: string, origins: readonly string[]): Refusal {
  return {
    status: 409,
    code: "ambiguous_target",
    problem: `Frames of ${String(origins.length)} origins have a tool ${quoted(name)}`,
    field: "body.origin",
    hint: `Pass one of these origins: ${origins.slice(0, maxNamed).map(quoted).join(", ")}.`,
  };
}

/** @param reason - from the page. */
export function toolFailed(name: string, reason: string): Refusal {
  const [line = ""] = reason.split("\n");
  return {
    status: 409,
    code: "tool_failed",
    problem: `The tool ${quoted(name)} failed: ${line === "" ? "the page states no reason" : JSON.stringify(line.slice(0, maxReasonCharacters))}`,
    hint: "Check the arguments, or use the page with `act`.",
  };
}

export function toolTimeout(name: string, seconds: number): Refusal {
  return {
    status: 409,
    code: "tool_timeout",
    problem: `The tool ${quoted(name)} did not answer within ${String(seconds)} seconds and was cancelled`,
    field: "body.timeout_seconds",
    limit: seconds,
    hint: "Observe the page: the tool may have had effects. Or send a larger value.",
  };
}

/** @param dialog - its type and text. */
export function toolDialog(
  name: string,
  tab: string,
  dialog: { readonly type: string; readonly message: string } | undefined,
): Refusal {
  const text = dialog === undefined ? "" : ` (${dialog.type}: ${JSON.stringify(dialog.message.slice(0, 200))})`;
  return {
    status: 409,
    code: "dialog_open",
    problem: `The tool ${quoted(name)} waits for an answer to a dialog${text} in ${tab}`,
    hint: "Answer it with `answer_dialog`, then observe the page for the result.",
  };
}

export const tooManyCalls = (limit: number): Refusal => ({
  status: 409,
  code: "conflict",
  problem: `More than ${String(limit)} calls and lists of tools run at once`,
  limit,
  hint: "Wait for their answers first.",
});

function quoted(text: string): string {
  return JSON.stringify(text.length > maxNameCharacters ? `${text.slice(0, maxNameCharacters)}…` : text);
}

export function unknownRef(): ServiceError {
  return new ServiceError(404, "tool_not_found", "No open page has a tool with this reference.", {
    field: "body.tool_ref",
    hint: "List the tools again: a reference ends with its document, and with its definition.",
  });
}

export function frameNotResponding(): ServiceError {
  return new ServiceError(409, "page_not_responding", "The tool was not called: its frame does not answer", {
    hint: "Try again, answer the dialog of its page, or load the page again.",
  });
}
