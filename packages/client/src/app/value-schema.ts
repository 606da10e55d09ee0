/**
 * A schema of zod, or of another library that implements the standard.
 * @see {@link https://standardschema.dev | Standard Schema}
 */
export interface ValueSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    /** Returns the parsed value, or the issues. */
    validate(value: unknown): CheckedValue<Output> | Promise<CheckedValue<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The result of a check: the parsed value, or the issues. */
export type CheckedValue<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type InputOf<S> =
  S extends ValueSchema<infer Input>
    ? Input
    : S extends { readonly "~standard": { readonly types?: { readonly input: infer Input } | undefined } }
      ? Input
      : never;
export type OutputOf<S> = S extends {
  readonly "~standard": { readonly types?: { readonly output: infer Output } | undefined };
}
  ? Output
  : never;

/** Returns the parsed value; `at` names the value in messages. @throws {TypeError} with the first ten issues. */
export async function checkedBy(schema: ValueSchema, value: unknown, at: string): Promise<unknown> {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return result.value;
  const shown = result.issues
    .slice(0, 10)
    .map(
      ({ message, path = [] }) =>
        [at, ...path.map((part) => String(typeof part === "object" ? part.key : part))].join(".") + `: ${message}`,
    );
  throw new TypeError(shown.join("; "));
}

type JsonSchema = Record<string, unknown>;

/** Converts a schema to JSON Schema draft-07: `input` before the check, `output` after it. `null` when the library cannot convert it. */
export async function jsonSchemaOf(
  schema: ValueSchema | undefined,
  side: "input" | "output",
): Promise<JsonSchema | null> {
  if (schema === undefined) return null;
  try {
    const standard: unknown = Reflect.get(schema["~standard"], "jsonSchema");
    if (typeof standard === "object" && standard !== null) {
      const convert: unknown = Reflect.get(standard, side);
      if (typeof convert === "function")
        return (convert as (options: { target: string }) => JsonSchema).call(standard, { target: "draft-07" });
    }
    if (!("_zod" in schema)) return null;
    // Schemas of zod/mini do not contain their converter.
    const { toJSONSchema } = await import("zod/mini");
    return {
      ...toJSONSchema(schema as unknown as Parameters<typeof toJSONSchema>[0], { target: "draft-07", io: side }),
    };
  } catch {
    return null;
  }
}
