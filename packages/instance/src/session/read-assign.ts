import * as z from "zod/mini";
import { AssignInstance } from "../protocol.ts";

/** Checks the body of `POST /_instance/assign`. */
export function readAssign(text: string): { readonly assign: AssignInstance } | { readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: "body: not JSON" };
  }
  const result = z.safeParse(AssignInstance, value);
  return result.success ? { assign: result.data } : { problem: `body: ${describeIssue(result.error.issues[0])}` };
}

/** The first problem of a document: its field, and what zod says of it. */
export function describeIssue(issue: z.core.$ZodIssue | undefined): string {
  return issue === undefined ? "not as expected" : `${issue.path.join(".") || "the whole"}: ${issue.message} (${issue.code})`;
}
