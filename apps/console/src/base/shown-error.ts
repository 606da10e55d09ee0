import { ApiError } from "@shoal/client";

const operation = String.raw`(?!chromium|network|page\b)[a-z]\w*(?:\.[a-z]\w*)+(?![\w/])`;
/** `List the profiles with profiles.list, or create it with profiles.create.`: also without them, it is the next step. */
const byOperation = new RegExp(String.raw` (?:with|from) ${operation}(?:(?:,| or| and) ${operation})*`, "g");

/** The text of a failure in words of the console: no names of operations, and no path of the field in the request. */
export function shownError(error: unknown): string {
  if (!ApiError.isInstance(error)) return error instanceof Error ? error.message : String(error);
  const { field, hint } = error.fields;
  const message = withoutOperations(error.message, hint);
  return typeof field === "string" ? withoutPath(field, message) : message;
}

/** Changes the hint at the end of a message only: it never repeats input, so these names are never parts of a value. */
export function withoutOperations(message: string, hint: unknown): string {
  if (typeof hint !== "string" || hint === "" || !message.endsWith(hint)) return message;
  return message.slice(0, -hint.length) + hint.replace(byOperation, "");
}

/** `body.viewport.height: expected at least 1` is `Viewport height: expected at least 1`. */
function withoutPath(field: string, message: string): string {
  if (!message.startsWith(`${field}: `)) return message;
  const words = field
    .replace(/^(?:body|query|params)(?:\.|$)/, "")
    .replace(/[._]/g, " ")
    .trim();
  const rest = message.slice(field.length + 2);
  return capitalized(words === "" ? rest : `${words}: ${rest}`);
}

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
