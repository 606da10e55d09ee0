import * as z from "zod/mini";
import { rule } from "./rules.ts";

/** A zod/mini schema with the parsed type (`Output`) and the accepted type (`Input`). */
export type Schema<Output = unknown, Input = Output> = z.ZodMiniType<Output, Input>;

/** An object schema that constructs its fields at first use, which halves the start time of programs that import many. `shape` is called once. */
// @__NO_SIDE_EFFECTS__
export function lazyObject<Shape extends z.core.$ZodShape>(shape: () => Shape): z.ZodMiniLazy<z.ZodMiniObject<Shape>> {
  // zod calls the getter again for each JSON Schema.
  let made: z.ZodMiniObject<Shape> | undefined;
  return z.lazy(() => (made ??= z.object(shape())));
}

/** `schema.check(...)` as a function, so that bundlers can drop unused declarations. */
// @__NO_SIDE_EFFECTS__
export function checked<S extends z.ZodMiniType>(schema: S, ...checks: Parameters<S["check"]>): S {
  return schema.check(...checks);
}

/** For texts that PostgreSQL or the operating system receives. @param pattern - for documents. */
// @__NO_SIDE_EFFECTS__
export function noNul(pattern = "^[^\\x00]*$"): ReturnType<typeof z.refine<string>> {
  return rule<string>((text) => !text.includes("\0"), "must not contain a NUL character", { keywords: { pattern } });
}

/** All {@link alwaysSent} fields, for documents that list required fields. */
export const alwaysSentFields = new WeakSet<z.core.$ZodType>();

/**
 * A response field that Shoal always sends and that is optional on the wire. Types and documents show it as required, but responses of
 * other services pass without it.
 */
// @__NO_SIDE_EFFECTS__
export function alwaysSent<Output>(field: Schema<Output>): Schema<Output> {
  const schema = z.optional(field);
  alwaysSentFields.add(schema);
  // The type that Shoal guarantees.
  return schema as unknown as Schema<Output>;
}

/** The known values of each {@link openEnum}, for documents that list them. */
export const openEnumValues = new WeakMap<z.core.$ZodType, readonly string[]>();

/** Completes known values in editors and accepts other strings of newer servers. For responses only; requests use a closed `z.enum`. */
// @__NO_SIDE_EFFECTS__
export function openEnum<const Values extends readonly string[]>(
  ...values: Values
): Schema<Values[number] | (string & {})> {
  const schema = z.string();
  openEnumValues.set(schema, values);
  return schema;
}

/** Text that is often one of some values, which editors complete. Documents do not list them, because the service also sends others. */
// @__NO_SIDE_EFFECTS__
export function suggestedText<const Values extends readonly string[]>(
  ..._values: Values
): Schema<Values[number] | (string & {})> {
  return z.string();
}

type VariantShapes = Readonly<Record<string, z.core.$ZodTypeDiscriminable & z.ZodMiniType>>;

/**
 * A union with a discriminator field. Values of a known type are checked; unknown types of a newer server pass unchanged, so a `switch`
 * needs a `default`, although the TypeScript type has only the known types. For responses only.
 * @param discriminator - name of the field, for example `type`.
 * @param variants - the shapes by type; a shape with several types is listed under each.
 */
// @__NO_SIDE_EFFECTS__
export function openUnion<const Variants extends VariantShapes>(
  discriminator: string,
  variants: Variants,
): Schema<z.output<Variants[keyof Variants]>> {
  const schema = z.discriminatedUnion(discriminator, [
    ...new Set<z.core.$ZodTypeDiscriminable>(Object.values(variants)),
  ] as [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]]);
  const internals = schema._zod;
  const parse = internals.parse.bind(internals);
  // As a plain union, the shape for unknown types would also accept invalid values of known types.
  internals.run = internals.parse = (payload, context) => {
    const kind = kindOf(payload.value, discriminator);
    if (kind === undefined) return parse(payload, context);
    const variant = Object.hasOwn(variants, kind) ? variants[kind] : undefined;
    return variant === undefined ? payload : variant._zod.run(payload, context);
  };
  // The members of zod's union are `variants`.
  return schema as unknown as Schema<z.output<Variants[keyof Variants]>>;
}

function kindOf(value: unknown, discriminator: string): string | undefined {
  const kind: unknown = typeof value === "object" && value !== null ? Reflect.get(value, discriminator) : undefined;
  return typeof kind === "string" ? kind : undefined;
}
