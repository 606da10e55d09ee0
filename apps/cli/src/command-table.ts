/** Where a flag's value goes. */
export type FlagPlace = "query" | "body";

/** One flag of a command, read off a field of the operation's query or body. */
export interface Flag {
  /** The wire's name: `timeout_seconds`. */
  readonly field: string;
  readonly place: FlagPlace;
  readonly kind: "string" | "integer" | "number" | "boolean" | "map" | "list" | "json";
  /** The values that are allowed, where they are few. */
  readonly values?: readonly string[];
  readonly required: boolean;
  /** Whether `null` takes the value away: a field of a change that may be null. */
  readonly clearable: boolean;
  readonly description: string;
  readonly default?: unknown;
}

/** One command, read off an operation. */
export interface CommandSpec {
  /** `browsers.fs.watch.start` */
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** Path parameters, in order: the command's arguments. */
  readonly params: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly Flag[];
  readonly body: "none" | "json" | "bytes" | "multipart";
  readonly result: "json" | "page" | "empty" | "bytes" | "events";
  readonly deprecated: boolean;
}

interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly description?: string;
  readonly default?: unknown;
  readonly format?: string;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: JsonSchema;
}
interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: JsonSchema }>> };
  readonly responses: Readonly<Record<string, { readonly headers?: object; readonly content?: Readonly<Record<string, unknown>> }>>;
}
/** The parts of an OpenAPI 3.1 document that commands are made from. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, JsonSchema>> };
}

/** Reads the commands off an OpenAPI document, one for each operation. Made at build time, so that `--help` loads no schema library. */
export function commandTable(document: OpenApiDocument): CommandSpec[] {
  const resolve = (schema: JsonSchema | undefined): JsonSchema => {
    if (schema?.$ref === undefined) return schema ?? {};
    const target = document.components?.schemas?.[schema.$ref.split("/").at(-1) ?? ""];
    return { ...resolve(target), ...(schema.description !== undefined && { description: schema.description }) };
  };

  const flag = (place: FlagPlace, field: string, source: { schema: JsonSchema; required: boolean; isChange?: boolean; description: string | undefined }): Flag => {
    let schema = resolve(source.schema);
    let nullable = typesOf(schema).includes("null");
    const variants = schema.anyOf ?? schema.oneOf;
    const real = variants?.filter((variant) => variant.type !== "null");
    if (variants && real?.length === 1) {
      nullable = nullable || real.length < variants.length;
      schema = { ...resolve(real[0]), ...(schema.description !== undefined && { description: schema.description }), ...(schema.default !== undefined && { default: schema.default }) };
    }
    const type = typesOf(schema).find((name) => name !== "null");
    const values = schema.enum?.filter((value) => typeof value === "string");
    return {
      field,
      place,
      kind: kindOf(type, schema),
      ...(values && values.length > 0 && { values }),
      required: source.required,
      clearable: nullable && source.isChange === true,
      description: source.description ?? schema.description ?? "",
      ...(schema.default !== undefined && { default: schema.default }),
    };
  };

  const kindOf = (type: string | undefined, schema: JsonSchema): Flag["kind"] => {
    if (type === "string" || type === "integer" || type === "number" || type === "boolean") return type;
    if (type === "array" && resolve(schema.items).type === "string") return "list";
    if (type === "object" && schema.properties === undefined && typeof schema.additionalProperties === "object" && resolve(schema.additionalProperties).type === "string") return "map";
    return "json";
  };

  return Object.values(document.paths)
    .flatMap((methods) => Object.entries(methods))
    .filter(([, operation]) => typeof operation.operationId === "string")
    .map(([method, operation]) => {
      const parameters = operation.parameters ?? [];
      const content = operation.requestBody?.content ?? {};
      const json = content["application/json"];
      const body = json ? "json" : content["multipart/form-data"] ? "multipart" : Object.keys(content).length > 0 ? "bytes" : "none";
      const bodySchema = resolve(json?.schema);
      const [, success] = Object.entries(operation.responses).find(([status]) => status.startsWith("2")) ?? [];
      return {
        operationId: operation.operationId,
        summary: operation.summary ?? "",
        description: operation.description ?? "",
        params: parameters.filter((parameter) => parameter.in === "path").map(({ name, description }) => ({ name, description: description ?? "" })),
        flags: [
          ...parameters
            .filter((parameter) => parameter.in === "query")
            .map((parameter) => flag("query", parameter.name, { schema: parameter.schema ?? {}, required: parameter.required ?? false, description: parameter.description })),
          ...Object.entries(bodySchema.properties ?? {}).map(([field, schema]) =>
            flag("body", field, { schema, required: bodySchema.required?.includes(field) ?? false, isChange: method === "patch", description: schema.description }),
          ),
        ],
        body,
        result: resultOf(success),
        deprecated: operation.deprecated ?? false,
      };
    });
}

function typesOf({ type }: JsonSchema): readonly string[] {
  return type === undefined ? [] : typeof type === "string" ? [type] : type;
}

function resultOf(success: Operation["responses"][string] | undefined): CommandSpec["result"] {
  const types = Object.keys(success?.content ?? {});
  if (types.includes("text/event-stream")) return "events";
  if (types.includes("application/json")) return Object.keys(success?.headers ?? {}).some((header) => header.toLowerCase() === "x-has-more") ? "page" : "json";
  return types.length > 0 ? "bytes" : "empty";
}
