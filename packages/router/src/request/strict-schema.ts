import * as z from "zod/mini";

type AnyType = z.core.$ZodType;

/**
 * Copies a schema so that objects at every depth refuse unknown keys. Declared shapes are tolerant, because clients
 * accept answers of newer servers. An explicit rule (`looseObject`, `catchall`) stays.
 */
export function strict(schema: AnyType, memo = new Map<AnyType, AnyType>()): AnyType {
  const known = memo.get(schema);
  if (known !== undefined) return known;
  const changed = strictDefinition(schema, memo);
  const copy = changed === undefined ? schema : withDefinition(schema, changed);
  memo.set(schema, copy);
  return copy;
}

/** `z.core.clone` would bundle the whole of zod. */
function withDefinition(schema: AnyType, changed: object): AnyType {
  // Copies descriptors, not values: shapes are lazy getters.
  const definition: unknown = Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(schema._zod.def), ...Object.getOwnPropertyDescriptors(changed) },
  );
  return new schema._zod.constr(definition);
}

/** Shapes and getters stay lazy, which also terminates recursion. */
function strictDefinition(schema: AnyType, memo: Map<AnyType, AnyType>): object | undefined {
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
      // A transform's result is checked by the next schema; its input has no schema.
      return isTransform(def.in) ? { out: strict(def.out, memo) } : { in: strict(def.in, memo) };
    default:
      return undefined;
  }
}

/** The first half of a preprocessing pipe. */
export function isTransform(schema: AnyType): boolean {
  return schema._zod.def.type === "transform";
}
