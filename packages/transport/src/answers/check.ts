import type { Schema } from "@shoal/schemas";
import type * as z from "zod/mini";

export interface Mismatch {
  /** `body.viewport.height` */
  readonly path: string;
  /** `expected a number, got a string` */
  readonly problem: string;
}

function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined),
    value,
  );
}

// zod/mini has no messages: without a locale each would be "Invalid input".
function problemOf(issue: z.core.$ZodIssue, value: unknown): string {
  const got = kindOf(valueAt(value, issue.path));
  switch (issue.code) {
    case "invalid_type":
      return `expected ${issue.expected}, got ${got}`;
    case "invalid_value":
      return `expected one of ${issue.values.map(String).join(", ")}`;
    case "invalid_format":
      return `expected the format ${issue.format}`;
    case "too_small":
      return `expected at least ${issue.minimum.toString()}`;
    case "too_big":
      return `expected at most ${issue.maximum.toString()}`;
    default:
      return `invalid (${issue.code}), got ${got}`;
  }
}

/** Checks a value against its schema. Callers receive the value and not zod's copy, which lacks the fields of a newer server. */
export function mismatchOf(schema: Schema, value: unknown, at: string): Mismatch | undefined {
  const issue = schema.safeParse(value).error?.issues[0];
  if (issue === undefined) return undefined;
  const path = issue.path.reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : `${text}.${String(key)}`),
    at,
  );
  return { path, problem: problemOf(issue, value) };
}
