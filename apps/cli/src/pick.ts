import { search } from "@jmespath-community/jmespath";
import { UsageError } from "./values.ts";

/** What a JMESPath expression picks from a value. @throws {UsageError} for what is no expression. @see https://jmespath.org/specification.html */
export function pick(value: unknown, expression: string): unknown {
  try {
    return search(value as Parameters<typeof search>[0], expression);
  } catch (error) {
    throw new UsageError(
      `--query takes a JMESPath expression, such as name or [].id: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}.`.replace(
        /\.\.$/,
        ".",
      ),
    );
  }
}
