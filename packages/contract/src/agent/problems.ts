import type * as z from "zod/mini";

/** Texts for invalid arguments that a model can act on. Schemas with an own text keep it. */
export function problemTexts(names: readonly string[]): z.core.$ZodErrorMap {
  return (issue) => problemOf(issue, names);
}

function problemOf(issue: z.core.$ZodRawIssue, names: readonly string[]): string | undefined {
  switch (issue.code) {
    case "unrecognized_keys":
      return `unknown field ${issue.keys.join(", ")}; this tool has ${names.length === 0 ? "no fields" : names.join(", ")}`;
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
      return issue.pattern === undefined ? `must be a valid ${issue.format}` : `must match ${issue.pattern}`;
    default:
      return undefined;
  }
}

function unitOf(origin: string): string {
  return origin === "string" ? " characters" : origin === "array" ? " items" : "";
}
