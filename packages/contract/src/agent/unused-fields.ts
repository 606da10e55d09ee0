import * as z from "zod/mini";

/**
 * Removes fields that a caller does not use but must send: strict callers require every property, and their models fill
 * the others with `null`, `""`, `[]` or `0`. Only optional fields are removed. `[]` and `0` are kept where the field
 * accepts them.
 */
export function withoutUnused(schema: z.core.$ZodType, value: unknown): unknown {
  const def = definitionOf(schema);
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return def.type === "array" ? items.map((item) => withoutUnused(def.element, item)) : value;
  }
  if (typeof value !== "object" || value === null || def.type !== "object") return value;
  const kept = Object.entries(value).flatMap(([name, given]): [string, unknown][] => {
    const field = Object.hasOwn(def.shape, name) ? def.shape[name] : undefined;
    if (field === undefined) return [[name, given]];
    const inner: unknown = withoutUnused(field, given);
    return isUnused(field, inner) ? [] : [[name, inner]];
  });
  return Object.fromEntries(kept);
}

function isUnused(field: z.core.$ZodType, value: unknown): boolean {
  if (!isEmpty(value) || !accepts(field, undefined)) return false;
  return value === "" || !accepts(field, value);
}

/** An object is empty if all of its fields were unused. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === "" || value === 0) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function accepts(field: z.core.$ZodType, value: unknown): boolean {
  return z.safeParse(field, value).success;
}

function definitionOf(schema: z.core.$ZodType): z.core.$ZodTypes["_zod"]["def"] {
  // `_zod.def.type` discriminates the union of zod's own types.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === "lazy") return definitionOf(def.getter());
  if (def.type === "optional" || def.type === "nullable" || def.type === "default" || def.type === "prefault")
    return definitionOf(def.innerType);
  return def;
}
