import type * as z from "zod/mini";
import { fieldDetail, ServiceError } from "../handler/service-error.ts";

export const maxProblems = 50;

/** `body.viewport.height`, `expected a number`. */
export interface Problem {
  readonly path: string;
  readonly message: string;
  readonly limit?: number | string | undefined;
  readonly hint?: string | undefined;
}

/** Lists all problems in `details` and names the first in its message. */
export function invalidRequest(problems: readonly Problem[]): ServiceError {
  const details = problems
    .slice(0, maxProblems)
    .map(({ hint, limit, message, path }) => fieldDetail(message, { field: path, limit, hint }));
  const [first] = problems;
  if (first === undefined) return new ServiceError(400, "bad_request", "The request is invalid.", { details });
  const { hint, limit, message, path } = first;
  return new ServiceError(400, "bad_request", message, { field: path, limit, hint, details });
}

/** @param root - `body`, `query`, `params`. zod/mini has no messages, so the parse must use {@link issueMessage}. */
export function problemsOf(root: string, issues: readonly z.core.$ZodIssue[]): Problem[] {
  return issues.flatMap((issue): Problem[] => {
    const path = pathText(root, issue.path);
    switch (issue.code) {
      case "unrecognized_keys":
        return issue.keys.slice(0, maxProblems).map((key) => ({ path: pathText(path, [key]), message: issue.message }));
      case "invalid_union": {
        const closest = closestBranch(issue);
        return closest === undefined ? [{ path, message: issue.message }] : problemsOf(path, closest);
      }
      case "invalid_key":
      case "invalid_element":
        return [
          {
            path,
            message: `${issue.code === "invalid_key" ? "invalid key" : "invalid element"}: ${issue.issues[0]?.message ?? issue.message}`,
          },
        ];
      case "too_small":
        return [{ path, message: issue.message, limit: Number(issue.minimum) }];
      case "too_big":
        return [{ path, message: issue.message, limit: Number(issue.maximum) }];
      case "invalid_value":
        return [{ path, message: issue.message, limit: issue.values.map(String).join(", ") }];
      default:
        return [{ path, message: issue.message }];
    }
  });
}

/** The branch that matches deepest, or has the fewest issues, is most likely the intended one. */
function closestBranch(issue: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] | undefined {
  // An unknown key is reported at its object.
  const depth = (branch: readonly z.core.$ZodIssue[]) =>
    Math.max(0, ...branch.map((inner) => inner.path.length + (inner.code === "unrecognized_keys" ? 1 : 0)));
  const best = issue.errors.toSorted((a, b) => depth(b) - depth(a) || a.length - b.length)[0];
  return best !== undefined && depth(best) > 0 ? best : undefined;
}

/** Converts `body` and `["files", 0, "a b"]` to `body.files[0]["a b"]`. */
export function pathText(root: string, path: readonly PropertyKey[]): string {
  let text = root;
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else if (typeof key === "string" && /^[A-Za-z_$][\w$]*$/.test(key)) text += `.${key}`;
    else text += `[${JSON.stringify(String(key).slice(0, 100))}]`;
  }
  return text;
}

/** An error map for zod. A schema's own message has priority. */
export function issueMessage(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined
        ? `required (expected ${article(issue.expected)})`
        : `expected ${article(issue.expected)}`;
    case "invalid_value":
      return issue.input === undefined
        ? `required (expected ${listed(issue.values)})`
        : `expected ${listed(issue.values)}`;
    case "unrecognized_keys":
      return unknownKeyMessage(issue.inst);
    case "too_small":
      return `expected ${bound(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum)}`;
    case "too_big":
      return `expected ${bound(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum)}`;
    case "invalid_format":
      return issue.format === "regex"
        ? `must match ${issue.pattern ?? "the pattern"}`
        : `expected a ${issue.format.replaceAll("_", " ")}`;
    case "not_multiple_of":
      return `expected a multiple of ${String(issue.divisor)}`;
    case "invalid_union":
      return issue.input === undefined ? "required" : "fits none of the allowed forms";
    case "invalid_key":
      return "invalid key";
    case "invalid_element":
      return "invalid element";
    case "custom":
      return "invalid value";
    default:
      return "invalid value";
  }
}

function unknownKeyMessage(object: unknown): string {
  // The issue's schema is the object that refused the key; its shape has the known names.
  const shape = (object as z.core.$ZodObject | undefined)?._zod.def.shape;
  const names = shape === undefined ? [] : Object.keys(shape);
  return names.length === 0 || names.length > 12 ? "unknown field" : `unknown field; known are ${names.join(", ")}`;
}

function article(expected: string): string {
  if (expected === "int") return "an integer";
  if (expected === "record") return "an object";
  return /^[aeio]/.test(expected) ? `an ${expected}` : `a ${expected}`;
}

function listed(values: readonly unknown[]): string {
  return values.length === 1
    ? JSON.stringify(values[0])
    : `one of ${values.map((value) => JSON.stringify(value)).join(", ")}`;
}

function bound(origin: string, relation: string, limit: number | bigint): string {
  const unit =
    origin === "string"
      ? " character"
      : origin === "array" || origin === "set"
        ? " item"
        : origin === "file"
          ? " byte"
          : "";
  return `${relation} ${String(limit)}${unit}${unit !== "" && Number(limit) !== 1 ? "s" : ""}`;
}
