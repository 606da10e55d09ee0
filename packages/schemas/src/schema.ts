import * as z from "zod/mini";

/** A zod/mini schema by what it gives (`Output`) and what people write (`Input`). */
export type Schema<Output = unknown, Input = Output> = z.ZodMiniType<Output, Input>;

/**
 * An object schema whose fields are constructed when it is first used: halves the start of a program that imports many.
 *
 * @param shape - returns the fields; called once.
 */
// @__NO_SIDE_EFFECTS__
export function lazyObject<Shape extends z.core.$ZodShape>(shape: () => Shape): z.ZodMiniLazy<z.ZodMiniObject<Shape>> {
  return z.lazy(() => z.object(shape()));
}

/** `schema.check(...)` as a function, so that bundlers may drop an unused declaration. */
// @__NO_SIDE_EFFECTS__
export function checked<S extends z.ZodMiniType>(schema: S, ...checks: Parameters<S["check"]>): S {
  return schema.check(...checks);
}

/** The known values of each {@link openEnum}, for documents that list them. */
export const openEnumValues = new WeakMap<z.core.$ZodType, readonly string[]>();

/**
 * Known values complete in the editor, other strings pass: a newer server may send a value that this version does not know.
 * For answers only; a request takes a closed `z.enum`.
 */
// @__NO_SIDE_EFFECTS__
export function openEnum<const Values extends readonly string[]>(...values: Values): Schema<Values[number] | (string & {})> {
  const schema = z.string();
  openEnumValues.set(schema, values);
  return schema;
}
