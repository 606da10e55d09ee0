import { search } from "@jmespath-community/jmespath";
import { messageOf } from "@shoal/primitives";
import { UsageError } from "../core/errors.ts";

/** Evaluates JMESPath. @throws {UsageError} for an invalid expression. @see https://jmespath.org/specification.html */
export function pick(value: unknown, expression: string): unknown {
  try {
    return search(value as Parameters<typeof search>[0], expression);
  } catch (error) {
    const [reason = ""] = messageOf(error).split("\n", 1);
    throw new UsageError(
      `--query must be a JMESPath expression, for example name or [].id: ${reason.replace(/\.$/, "")}.`,
    );
  }
}
