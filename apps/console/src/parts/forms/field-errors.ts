import { ApiError } from "@shoal/client";
import { capitalized, withoutOperations } from "../../base/shown-error.ts";

/**
 * Returns the problems that the service found in fields of a request's body, by the field's path: `name`,
 * `viewport.height`.
 */
export function fieldErrorsOf(error: unknown): ReadonlyMap<string, string> {
  const errors = new Map<string, string>();
  if (!ApiError.isInstance(error)) return errors;
  const causes = [...(error.details ?? []), { field: error.fields.field, message: error.message }];
  for (const { field, message } of causes) {
    if (typeof field !== "string" || message === undefined || !field.startsWith("body.")) continue;
    const path = field.slice("body.".length);
    const text = message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
    if (!errors.has(path)) errors.set(path, capitalized(withoutOperations(text, error.fields.hint)));
  }
  return errors;
}
