import type { Endpoint } from "@shoal/contract";
import type * as z from "zod/mini";

/** Yields the path of every leaf: `body.extensions[].id`. */
function* leavesOf(schema: z.core.$ZodType, at: string): Generator<string> {
  // `$ZodTypes` is the union of all schemas.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "lazy":
      yield* leavesOf(def.getter(), at);
      return;
    case "optional":
    case "nullable":
    case "default":
      yield* leavesOf(def.innerType, at);
      return;
    case "pipe":
      yield* leavesOf(def.in, at);
      return;
    case "union":
      for (const option of def.options) yield* leavesOf(option, at);
      return;
    case "object":
      for (const [name, field] of Object.entries(def.shape)) yield* leavesOf(field, `${at}.${name}`);
      return;
    case "array":
      yield* leavesOf(def.element, `${at}[]`);
      return;
    case "record":
      yield* leavesOf(def.valueType, `${at}.*`);
      return;
    default:
      yield at;
  }
}

/**
 * Names of fields that may refer to an object: `profile.id`, `proxy_id`. A `name` of the body itself names the new
 * object.
 */
const mayName = /(?:^body|[\]*\w])\.(?:id|\w+_id|\w+_name)$|^body\.[^.]+(?:\.[^.]+)*\.name$/;

export function referenceFields({ body }: Endpoint): string[] {
  if (body === undefined || body.kind === "bytes") return [];
  return [...new Set(leavesOf(body.schema, "body"))].filter((path) => mayName.test(path));
}
