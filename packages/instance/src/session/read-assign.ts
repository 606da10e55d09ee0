import type { Schema } from "@shoal/schemas";
import * as z from "zod/mini";
import { AssignInstance, ChangeViewport } from "../protocol.ts";

interface Problem {
  readonly problem: string;
}

/** Checks the body of `POST /_instance/assign`. */
export function readAssign(text: string): { readonly assign: AssignInstance } | Problem {
  const read = readBody(AssignInstance, text);
  return "problem" in read ? read : { assign: read.value };
}

/** Checks the body of `POST /_instance/viewport`. */
export function readViewportChange(text: string): { readonly change: ChangeViewport } | Problem {
  const read = readBody(ChangeViewport, text);
  return "problem" in read ? read : { change: read.value };
}

function readBody<T>(schema: Schema<T>, text: string): { readonly value: T } | Problem {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: "body: not JSON" };
  }
  const result = z.safeParse(schema, value);
  return result.success ? { value: result.data } : { problem: `body: ${describeIssue(result.error.issues[0])}` };
}

/** The first problem of a document: its field, and what zod says of it. */
export function describeIssue(issue: z.core.$ZodIssue | undefined): string {
  return issue === undefined ? "not as expected" : `${issue.path.join(".") || "the whole"}: ${issue.message} (${issue.code})`;
}
