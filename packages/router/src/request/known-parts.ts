import type * as z from "zod/mini";
import { unwrap } from "./query-reader.ts";

/** An unknown part, and the known names at that place. */
export interface UnknownPart {
  readonly path: readonly (string | number)[];
  readonly key: string;
  readonly known: readonly string[];
}

/**
 * @param name - `file`, `files[0][dest_path]`, `files[][file]`, `env[KEY]`. @returns `undefined` if the schema has the
 * part.
 */
export function unknownPart(schema: z.core.$ZodType, name: string): UnknownPart | undefined {
  const path = segmentsOf(name);
  let at = schema;
  for (const [depth, key] of path.entries()) {
    const { def } = (unwrap(at).schema as z.core.$ZodTypes)._zod;
    if (def.type === "object") {
      const field = Object.hasOwn(def.shape, key) ? def.shape[key] : undefined;
      if (field === undefined)
        return def.catchall === undefined
          ? {
              path: path.slice(0, depth).map((step) => (/^\d+$/.test(step) ? Number(step) : step)),
              key,
              known: Object.keys(def.shape),
            }
          : undefined;
      at = field;
    } else if (def.type === "array") at = def.element;
    else return undefined;
  }
  return undefined;
}

function segmentsOf(name: string): string[] {
  const [first = "", ...rest] = name.split("[");
  return [first, ...rest.map((segment) => segment.replace(/\]$/, ""))];
}
