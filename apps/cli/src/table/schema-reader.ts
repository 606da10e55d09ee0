import type { Flag, FlagKind, FlagPlace } from "../core/types.ts";
import { flagName } from "./words.ts";

interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly description?: string;
  readonly default?: unknown;
  readonly format?: string;
  readonly contentMediaType?: string;
  readonly maximum?: number;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: JsonSchema;
}
export interface OpenApiAnswer {
  readonly headers?: object;
  readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>>;
}
export interface OpenApiOperation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: JsonSchema }>> };
  readonly responses: Readonly<Record<string, OpenApiAnswer>>;
}
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, JsonSchema>> };
}

function typesOf({ type }: JsonSchema): readonly string[] {
  return type === undefined ? [] : typeof type === "string" ? [type] : type;
}

function isSecret(field: string): boolean {
  return /(^|[._])(password|token|totp_secret|values)$/.test(field) && !field.endsWith("page_token");
}

/** A field that has another constant in each variant, such as a discriminator, has all of them as its values. */
function constantsOf(
  variants: readonly { readonly properties: Readonly<Record<string, JsonSchema>> }[],
): Readonly<Record<string, JsonSchema>> {
  const fields: Record<string, JsonSchema> = {};
  for (const { properties } of variants)
    for (const [name, { const: value, ...field }] of Object.entries(properties))
      if (value !== undefined) fields[name] = { ...field, enum: [...(fields[name]?.enum ?? []), value] };
  return fields;
}

export class SchemaReader {
  readonly #schemas: Readonly<Record<string, JsonSchema>>;

  constructor(document: OpenApiDocument) {
    this.#schemas = document.components?.schemas ?? {};
  }

  /** For a union, includes the fields of all variants. */
  bodyFlags(schema: JsonSchema | undefined, isChange: boolean): Flag[] {
    const { properties, required } = this.#objectOf(schema);
    return Object.entries(properties).flatMap(([field, value]) => {
      const whole = this.flag("body", field, {
        schema: value,
        required: required.has(field),
        isChange,
        description: value.description,
      });
      if (whole.kind !== "json") return [whole];
      const inner = this.#objectOf(this.#real(value));
      const parts = Object.entries(inner.properties).map(([name, part]) =>
        this.flag("body", `${field}.${name}`, { schema: part, required: false, description: part.description }),
      );
      // Skip fields whose flag has another owner: `proxy_id` and `proxy.id`.
      const taken = new Set(Object.keys(properties).map(flagName));
      const simple = parts.filter(
        (part) => part.kind !== "json" && part.kind !== "file" && !taken.has(flagName(part.field)),
      );
      // For an object of nested objects, flags could not express enough.
      const isMostlySimple = simple.length >= parts.length - 1 || simple.length > parts.length / 2;
      if (simple.length === 0 || !isMostlySimple) return [whole];
      return [
        { ...whole, ...(simple.length === parts.length && !whole.clearable && { hidden: true as const }) },
        ...simple,
      ];
    });
  }

  flag(
    place: FlagPlace,
    field: string,
    source: { schema: JsonSchema; required: boolean; isChange?: boolean; description: string | undefined },
  ): Flag {
    const resolved = this.#resolve(source.schema);
    const variants = resolved.anyOf ?? resolved.oneOf;
    const nullable =
      typesOf(resolved).includes("null") || variants?.some((variant) => variant.type === "null") === true;
    const schema = this.#real(source.schema);
    const kind = this.#kindOf(schema);
    const chosen = kind === "list" ? this.#real(schema.items ?? {}) : schema;
    const values = (chosen.const === undefined ? chosen.enum : [chosen.const])?.filter(
      (value) => typeof value === "string",
    );
    const fallback = resolved.default ?? schema.default;
    return {
      field,
      place,
      kind,
      ...(values && values.length > 0 && { values }),
      required: source.required,
      clearable: nullable && source.isChange === true,
      description: source.description ?? resolved.description ?? schema.description ?? "",
      ...(fallback !== undefined && { default: fallback }),
      ...(schema.maximum !== undefined && { maximum: schema.maximum }),
      ...((kind === "string" || kind === "map") && isSecret(field) && { secret: true as const }),
    };
  }

  fieldsOf(schema: JsonSchema | undefined): string[] {
    return Object.keys(this.#objectOf(this.#item(schema)).properties);
  }

  /** Fields with plain values fit into a cell. */
  simpleFieldsOf(schema: JsonSchema | undefined): string[] {
    return Object.entries(this.#objectOf(this.#item(schema)).properties)
      .filter(([, field]) => !["json", "map", "list", "file"].includes(this.#kindOf(this.#real(field))))
      .map(([name]) => name);
  }

  isList(schema: JsonSchema | undefined): boolean {
    return this.#resolve(schema).type === "array";
  }

  #item(schema: JsonSchema | undefined): JsonSchema {
    const resolved = this.#resolve(schema);
    return resolved.type === "array" ? this.#resolve(resolved.items) : resolved;
  }

  #resolve(schema: JsonSchema | undefined): JsonSchema {
    if (schema?.$ref === undefined) return schema ?? {};
    const target = this.#schemas[schema.$ref.split("/").at(-1) ?? ""];
    return { ...this.#resolve(target), ...(schema.description !== undefined && { description: schema.description }) };
  }

  #real(schema: JsonSchema): JsonSchema {
    const resolved = this.#resolve(schema);
    const variants = (resolved.anyOf ?? resolved.oneOf)?.filter((variant) => variant.type !== "null");
    return variants?.length === 1 ? this.#real(variants[0] ?? {}) : resolved;
  }

  /** For a union: all fields of its variants, required if every variant requires them. */
  #objectOf(schema: JsonSchema | undefined): {
    properties: Readonly<Record<string, JsonSchema>>;
    required: ReadonlySet<string>;
  } {
    const resolved = this.#resolve(schema);
    const variants = [...(resolved.anyOf ?? resolved.oneOf ?? [])]
      .filter((variant) => variant.type !== "null")
      .map((variant) => this.#objectOf(variant));
    const parts = (resolved.allOf ?? []).map((part) => this.#objectOf(part));
    const [first, ...others] = variants;
    return {
      // The own fields come first, also where a part has further keywords of them.
      properties: Object.assign(
        { ...resolved.properties },
        ...variants.map(({ properties }) => properties),
        constantsOf(variants),
        ...parts.map(({ properties }) => properties),
        resolved.properties,
      ) as Record<string, JsonSchema>,
      required: new Set([
        ...(resolved.required ?? []),
        ...parts.flatMap(({ required }) => [...required]),
        ...[...(first?.required ?? [])].filter((name) => others.every(({ required }) => required.has(name))),
      ]),
    };
  }

  #kindOf(schema: JsonSchema): FlagKind {
    const type = typesOf(schema).find((name) => name !== "null");
    if (type === "string" || (type === undefined && schema.contentMediaType !== undefined))
      return schema.format === "binary" || schema.contentMediaType === "application/octet-stream" ? "file" : "string";
    if (type === "integer" || type === "number" || type === "boolean") return type;
    if (type === "array" && typesOf(this.#real(schema.items ?? {})).includes("string")) return "list";
    if (
      type === "object" &&
      schema.properties === undefined &&
      typeof schema.additionalProperties === "object" &&
      this.#isText(schema.additionalProperties)
    )
      return "map";
    if (this.#isSize(schema)) return "size";
    const variants = (schema.anyOf ?? schema.oneOf)?.map((variant) => this.#real(variant)) ?? [];
    return variants.length > 0 && variants.every((variant) => typesOf(variant).includes("string")) ? "string" : "json";
  }

  /** A region has a position as well. */
  #isSize(schema: JsonSchema): boolean {
    const names = Object.keys(this.#objectOf(schema).properties);
    return names.includes("width") && names.includes("height") && !names.includes("x");
  }

  #isText(schema: JsonSchema): boolean {
    return typesOf(this.#real(schema)).includes("string");
  }
}
