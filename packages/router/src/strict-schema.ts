import * as z from "zod/mini";

type AnyType = z.core.$ZodType;

/**
 * A copy of a schema in which every object, at every depth, refuses keys that it does not know.
 * Shapes are declared once and tolerant, so that clients accept answers of newer servers; requests are held to them strictly.
 *
 * @param schema - left as it is. An object that says itself what becomes of unknown keys (`looseObject`, `catchall`) keeps that.
 */
export function strict(schema: AnyType, memo = new Map<AnyType, AnyType>()): AnyType {
  const known = memo.get(schema);
  if (known !== undefined) return known;
  const changed = strictDefinition(schema, memo);
  const copy = changed === undefined ? schema : withDefinition(schema, changed);
  memo.set(schema, copy);
  return copy;
}

/** The schema with a part of its definition changed. As `z.core.clone` does it, which would bring the whole of zod into a bundle. */
function withDefinition(schema: AnyType, changed: object): AnyType {
  // Descriptors, not values: shapes are getters, and reading them here would end their laziness.
  const definition: unknown = Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(schema._zod.def), ...Object.getOwnPropertyDescriptors(changed) },
  );
  return new schema._zod.constr(definition);
}

/** What differs in the definition of the strict copy; `undefined` = nothing. Shapes and getters stay lazy, which also ends cycles. */
function strictDefinition(schema: AnyType, memo: Map<AnyType, AnyType>): object | undefined {
  // The union of zod's own types is what `_zod.def.type` discriminates.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "object":
      return {
        get shape() {
          const shape = Object.fromEntries(Object.entries(def.shape).map(([key, field]) => [key, strict(field, memo)]));
          Object.defineProperty(this, "shape", { value: shape });
          return shape;
        },
        ...(def.catchall === undefined && { catchall: z.never() }),
      };
    case "lazy":
      return { getter: () => strict(def.getter(), memo), _cachedInner: undefined };
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "nonoptional":
    case "readonly":
    case "catch":
      return { innerType: strict(def.innerType, memo) };
    case "array":
      return { element: strict(def.element, memo) };
    case "tuple":
      return { items: def.items.map((item) => strict(item, memo)), rest: def.rest && strict(def.rest, memo) };
    case "union":
      return { options: def.options.map((option) => strict(option, memo)) };
    case "record":
      return { valueType: strict(def.valueType, memo) };
    case "pipe":
      // What a transform makes is checked by what follows it; before that there is nothing to hold to.
      return isTransform(def.in) ? { out: strict(def.out, memo) } : { in: strict(def.in, memo) };
    default:
      return undefined;
  }
}

/** Whether a schema changes a value without checking it: the front half of a preprocessing pipe. */
export function isTransform(schema: AnyType): boolean {
  return schema._zod.def.type === "transform";
}
