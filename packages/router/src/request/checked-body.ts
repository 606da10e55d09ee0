import * as z from "zod/mini";
import { invalidRequest, issueMessage, maxProblems, problemsOf } from "./issues.ts";
import { strict } from "./strict-schema.ts";

/**
 * Validates a body that the handler assembled from the parts of a multipart request.
 * @param unknownFields - of objects in JSON parts. @throws {ServiceError} the 400 of an invalid JSON body.
 */
export function checkedBody<Schema extends z.core.$ZodType>(
  schema: Schema,
  body: unknown,
  unknownFields: "ignore" | "refuse",
): z.core.output<Schema> {
  const result = z.safeParse(unknownFields === "refuse" ? strict(schema) : schema, body, { error: issueMessage });
  if (!result.success) throw invalidRequest(problemsOf("body", result.error.issues.slice(0, maxProblems)));
  // The strict copy has the same output.
  return result.data as z.core.output<Schema>;
}
