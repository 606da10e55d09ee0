import type { Schema } from "@shoal/schemas";
import * as z from "zod/mini";
import { problemTexts } from "./problems.ts";
import { withoutUnused } from "./unused-fields.ts";

/** A JSON Schema of draft 2020-12, as an object. */
export type JsonSchema = Record<string, unknown>;

/** A check and its JSON Schema, as in the specification Standard Schema. */
export interface ToolSchema<Value> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: Value; readonly output: Value } | undefined;
    /** Checks a value without throwing. */
    readonly validate: (
      value: unknown,
    ) =>
      | { readonly value: Value }
      | { readonly issues: readonly { readonly message: string; readonly path: PropertyKey[] }[] };
    readonly jsonSchema: {
      /** The schema of values before defaults apply. */
      readonly input: () => JsonSchema;
      /** The schema of checked values. */
      readonly output: () => JsonSchema;
    };
  };
}

/** Fields of a tool's input: checked by the contract's schemas, described for models. */
export interface Fields<Input extends object> {
  readonly schemas: Readonly<Record<string, z.ZodMiniType>>;
  readonly texts: Readonly<Record<string, string>>;
  /** Only for the type. */
  readonly input?: Input;
}

// oxlint-disable-next-line typescript/no-explicit-any -- a schema of unknown output must accept schemas of every input
type InputSchema<Input> = Schema<any, Input>;

/** Takes fields of a request, with their types, limits and defaults. */
export function fieldsOf<Input extends object, Name extends keyof Input & string>(
  request: InputSchema<Input>,
  texts: Readonly<Record<Name, string>>,
): Fields<Pick<Input, Name>> {
  const shape = shapeOf(request);
  const schemas = Object.fromEntries(
    Object.keys(texts).map((name) => {
      const schema = shape[name];
      if (schema === undefined) throw new Error(`The request has no field ${name}.`);
      return [name, schema];
    }),
  );
  return { schemas, texts };
}

/** As {@link fieldsOf}, for fields that the tool needs although the request can do without. */
export function neededFieldsOf<Input extends object, Name extends keyof Input & string>(
  request: InputSchema<Input>,
  texts: Readonly<Record<Name, string>>,
): Fields<{ [Key in Name]-?: Exclude<Input[Key], undefined> }> {
  const { schemas } = fieldsOf(request, texts);
  return {
    schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, needed(schema)])),
    texts,
  };
}

/** A field that the contract does not have. */
export function ownField<Name extends string, Input>(
  name: Name,
  schema: InputSchema<Input>,
  text: string,
): Fields<Record<Name, Input>> {
  return { schemas: { [name]: schema }, texts: { [name]: text } };
}

/** Joins the fields of one tool. A name in both has the schema of `other`. */
export function joined<A extends object, B extends object>(one: Fields<A>, other: Fields<B>): Fields<A & B> {
  return { schemas: { ...one.schemas, ...other.schemas }, texts: { ...one.texts, ...other.texts } };
}

/** The input of a tool without fields. */
export const noFields: Fields<object> = { schemas: {}, texts: {} };

/** The schema of a tool's input. Unknown fields are errors, because models misspell names. */
export function inputSchema<Input extends object>({ schemas, texts }: Fields<Input>): ToolSchema<Input> {
  const schema = z.strictObject(schemas);
  const json = jsonSchemaOf(schema, "input");
  for (const [name, property] of Object.entries(json.properties as Record<string, JsonSchema>))
    property.description = texts[name];
  const error = problemTexts(Object.keys(schemas));
  return standardSchema<Input>(json, (value) => {
    const result = schema.safeParse(withoutUnused(schema, value), { error });
    return result.success
      ? { value: result.data as Input }
      : { issues: result.error.issues.map(({ message, path }) => ({ message, path })) };
  });
}

/**
 * The schema of a tool's structured answer, without a check: the transport has already checked it.
 * @param isBrief - omits the fields of inner objects, for answers that another tool describes.
 */
export function outputSchema(answer: Schema, isBrief = false): ToolSchema<object> {
  const json = jsonSchemaOf(answer, "output");
  allowNewFields(json);
  const fields = Object.entries(json.properties as Record<string, JsonSchema>);
  if (isBrief) json.properties = Object.fromEntries(fields.map(([name, field]) => [name, brief(field)]));
  return standardSchema(json, (value) => ({ value: value as object }));
}

function standardSchema<Value>(
  json: JsonSchema,
  validate: ToolSchema<Value>["~standard"]["validate"],
): ToolSchema<Value> {
  return {
    "~standard": {
      version: 1,
      vendor: "shoal",
      validate,
      jsonSchema: { input: () => structuredClone(json), output: () => structuredClone(json) },
    },
  };
}

function jsonSchemaOf(schema: z.core.$ZodType, io: "input" | "output"): JsonSchema {
  const json = z.toJSONSchema(schema, {
    io,
    target: "draft-2020-12",
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      // Models write shorter texts, but pay for each keyword in each request. The check refuses longer ones.
      if (io === "input") delete jsonSchema.maxLength;
    },
  }) as JsonSchema;
  delete json.$schema;
  return json;
}

/** A newer service may send more fields. */
function allowNewFields(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  if ("additionalProperties" in node && node.additionalProperties === false) delete node.additionalProperties;
  for (const inner of Object.values(node)) allowNewFields(inner);
}

function brief(field: JsonSchema): JsonSchema {
  const { description, items, type } = field;
  const about = description === undefined ? {} : { description };
  if (type === "object") return { type, ...about };
  return (items as JsonSchema | undefined)?.type === "object"
    ? { type: "array", items: { type: "object" }, ...about }
    : field;
}

function shapeOf(schema: z.core.$ZodType): Readonly<Record<string, z.ZodMiniType>> {
  // `_zod.def.type` discriminates the union of zod's own types.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === "lazy") return shapeOf(def.getter());
  if (def.type !== "object") throw new Error(`A request is an object, not ${def.type}.`);
  return def.shape as unknown as Readonly<Record<string, z.ZodMiniType>>;
}

function needed(schema: z.ZodMiniType): z.ZodMiniType {
  const { def } = (schema as unknown as z.core.$ZodTypes)._zod;
  return def.type === "optional" ? (def.innerType as z.ZodMiniType) : schema;
}
