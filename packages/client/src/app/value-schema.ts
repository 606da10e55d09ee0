/**
 * A schema of zod, or of another library that follows the standard.
 *
 * @see {@link https://standardschema.dev | Standard Schema}
 */
export interface ValueSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    /** The value as the schema makes it, or what is wrong. */
    validate(value: unknown): CheckedValue<Output> | Promise<CheckedValue<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a schema says of a value: what it makes of it, or what is wrong. */
export type CheckedValue<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What fits a schema before it is checked. */
export type InputOf<S> =
  S extends ValueSchema<infer Input>
    ? Input
    : S extends { readonly "~standard": { readonly types?: { readonly input: infer Input } | undefined } }
      ? Input
      : never;
/** What a schema makes of a value. */
export type OutputOf<S> = S extends { readonly "~standard": { readonly types?: { readonly output: infer Output } | undefined } } ? Output : never;

/**
 * Checks a value.
 *
 * @param at - where it stands, for messages: `payload`.
 * @returns what the schema makes of it.
 * @throws {TypeError} naming every place that does not fit, up to ten.
 */
export async function checkedBy(schema: ValueSchema, value: unknown, at: string): Promise<unknown> {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return result.value;
  const shown = result.issues
    .slice(0, 10)
    .map(({ message, path = [] }) => [at, ...path.map((part) => String(typeof part === "object" ? part.key : part))].join(".") + `: ${message}`);
  throw new TypeError(shown.join("; "));
}

type JsonSchema = Record<string, unknown>;

/**
 * A schema as JSON Schema, draft-07.
 *
 * @param side - `input` describes what fits before the check, `output` what comes out of it.
 * @returns `null` where the library, or something in the schema, has no words for it.
 */
export async function jsonSchemaOf(schema: ValueSchema | undefined, side: "input" | "output"): Promise<JsonSchema | null> {
  if (schema === undefined) return null;
  try {
    const standard: unknown = Reflect.get(schema["~standard"], "jsonSchema");
    if (typeof standard === "object" && standard !== null) {
      const convert: unknown = Reflect.get(standard, side);
      // As the standard says it.
      if (typeof convert === "function") return (convert as (options: { target: string }) => JsonSchema).call(standard, { target: "draft-07" });
    }
    if (!("_zod" in schema)) return null;
    // zod/mini leaves the converter out of its schemas.
    const { toJSONSchema } = await import("zod/mini");
    return { ...toJSONSchema(schema as unknown as Parameters<typeof toJSONSchema>[0], { target: "draft-07", io: side }) };
  } catch {
    return null;
  }
}
