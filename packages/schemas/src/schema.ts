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

/** Every {@link alwaysSent} field, for documents that list required fields. */
export const alwaysSentFields = new WeakSet<z.core.$ZodType>();

/**
 * A field of an answer that Shoal always sends and that the wire leaves optional. Types and documents call it required, but an answer
 * of another service without it passes the check. For answers only.
 */
// @__NO_SIDE_EFFECTS__
export function alwaysSent<Output>(field: Schema<Output>): Schema<Output> {
  const schema = z.optional(field);
  alwaysSentFields.add(schema);
  // The type is what Shoal promises.
  return schema as unknown as Schema<Output>;
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

/** Text that is often one of some values, which complete in the editor. Documents do not list them: the service itself sends others. */
// @__NO_SIDE_EFFECTS__
export function suggestedText<const Values extends readonly string[]>(..._values: Values): Schema<Values[number] | (string & {})> {
  return z.string();
}

type VariantShapes = Readonly<Record<string, z.core.$ZodTypeDiscriminable & z.ZodMiniType>>;

/**
 * A union whose member is told by the text in one field. Values of a known kind are checked; a kind that this version does not know
 * passes as it is, so a `switch` over the kinds needs a `default`, though the type names the known ones only. For answers only.
 *
 * @param discriminator - the field that tells the kind, `type` for instance.
 * @param variants - the shapes by the kind that each declares; a shape that declares several stands under each of them.
 */
// @__NO_SIDE_EFFECTS__
export function openUnion<const Variants extends VariantShapes>(
  discriminator: string,
  variants: Variants,
): Schema<z.output<Variants[keyof Variants]>> {
  const schema = z.discriminatedUnion(discriminator, [...new Set<z.core.$ZodTypeDiscriminable>(Object.values(variants))] as [
    z.core.$ZodTypeDiscriminable,
    ...z.core.$ZodTypeDiscriminable[],
  ]);
  const internals = schema._zod;
  const parse = internals.parse.bind(internals);
  // As a member of a plain union, a shape for the unknown kinds would pass a broken known one too.
  internals.run = internals.parse = (payload, context) => {
    const kind = kindOf(payload.value, discriminator);
    return kind === undefined || Object.hasOwn(variants, kind) ? parse(payload, context) : payload;
  };
  // The members that zod knows of are those of `variants`.
  return schema as unknown as Schema<z.output<Variants[keyof Variants]>>;
}

function kindOf(value: unknown, discriminator: string): string | undefined {
  const kind: unknown = typeof value === "object" && value !== null ? Reflect.get(value, discriminator) : undefined;
  return typeof kind === "string" ? kind : undefined;
}
