import type * as z from "zod/mini";

/** Explains invalid arguments to a model: the field, the limit and the known fields. */
export function problemsIn(
  issues: readonly z.core.$ZodIssue[],
  names: readonly string[],
): { readonly message: string; readonly path: PropertyKey[] }[] {
  return issues.map((issue) => ({ message: problemOf(issue, names), path: issue.path }));
}

function problemOf(issue: z.core.$ZodIssue, names: readonly string[]): string {
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.path.length > 0
        ? `unknown field ${issue.keys.join(", ")}`
        : `unknown field ${issue.keys.join(", ")}; this tool has ${names.length === 0 ? "no fields" : names.join(", ")}`;
    case "invalid_type":
      return issue.input === undefined
        ? `is missing; it must be of type ${issue.expected}`
        : `must be of type ${issue.expected}`;
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return `must be at least ${String(issue.minimum)}${unitOf(issue.origin)}`;
    case "too_big":
      return `must be at most ${String(issue.maximum)}${unitOf(issue.origin)}`;
    case "invalid_format":
      return issue.pattern !== undefined ? `must match ${issue.pattern}` : `must be a valid ${issue.format}`;
    default:
      return issue.message;
  }
}

function unitOf(origin: string): string {
  return origin === "string" ? " characters" : origin === "array" ? " items" : "";
}
