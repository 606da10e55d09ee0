import { fieldFlag } from "./flag-spelling.ts";
import { flagName, kebab } from "./words.ts";
import type { Polish } from "./polish.ts";

/** Where a flag's value goes. */
export type FlagPlace = "query" | "body";

/** What a flag takes. `file` is a part of a multipart body: the path of a file of this machine. */
export type FlagKind = "string" | "integer" | "number" | "boolean" | "map" | "list" | "json" | "file";

/** One flag of a command, read off a field of the operation's query or body. */
export interface Flag {
  /** The wire's name: `timeout_seconds`; `profile.id` for a field of an object. */
  readonly field: string;
  readonly place: FlagPlace;
  readonly kind: FlagKind;
  /** The values that are allowed, where they are few. */
  readonly values?: readonly string[];
  readonly required: boolean;
  /** Whether `null` takes the value away: a field of a change that may be null. */
  readonly clearable: boolean;
  readonly description: string;
  readonly default?: unknown;
  /** The largest number that is allowed. */
  readonly maximum?: number;
  /** Every field of this object has a flag of its own, so help leaves it out. */
  readonly hidden?: true;
}

/** What an operation answers with. */
export type ResultKind = "json" | "page" | "tokenPage" | "empty" | "bytes" | "events";

/** One command, read off an operation, with what people need beside it. */
export interface CommandSpec {
  /** `browsers.fs.watch.start` */
  readonly operationId: string;
  /** The command's words: `browsers fs watch start`. */
  readonly words: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly method: string;
  /** With placeholders, `/browsers/{id}/fs/watch`. */
  readonly path: string;
  /** Needs no key. */
  readonly open?: true;
  /** Path parameters, in order: the command's arguments. */
  readonly params: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly Flag[];
  readonly body: "none" | "json" | "bytes" | "multipart";
  readonly result: ResultKind;
  /** By status, what success looks like. */
  readonly responses: Readonly<Record<string, ResultKind>>;
  /** Of bytes that are sent. */
  readonly sends?: string;
  /** Of bytes that come. */
  readonly receives?: string;
  /** Fields of the answer, or of one item of a list. */
  readonly fields: readonly string[];
  readonly deprecated?: true;
  readonly polish: Polish;
}

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
interface Answer {
  readonly headers?: object;
  readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>>;
}
interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: JsonSchema }>> };
  readonly responses: Readonly<Record<string, Answer>>;
}
/** The parts of an OpenAPI 3.1 document that commands are made from. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, JsonSchema>> };
}

function typesOf({ type }: JsonSchema): readonly string[] {
  return type === undefined ? [] : typeof type === "string" ? [type] : type;
}

function resultOf(answer: Answer): ResultKind {
  const types = Object.keys(answer.content ?? {});
  if (types.includes("text/event-stream")) return "events";
  const headers = new Set(Object.keys(answer.headers ?? {}).map((header) => header.toLowerCase()));
  // Bytes may come by pages too.
  if (types.includes("application/json")) return headers.has("x-next-page-token") ? "tokenPage" : headers.has("x-has-more") ? "page" : "json";
  return types.length > 0 ? "bytes" : "empty";
}

/**
 * Reads the commands off an OpenAPI document, one for each operation, and adds what `polish` says of them. Made at build time, so that
 * a command loads no schema library.
 */
export function commandTable(document: OpenApiDocument, polish: Readonly<Record<string, Polish>>): CommandSpec[] {
  const reader = new SchemaReader(document);
  const specs = Object.entries(document.paths)
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })))
    .filter(({ operation }) => typeof operation.operationId === "string")
    .map(({ path, method, operation }) => {
      const { operationId, parameters = [] } = operation;
      const content = operation.requestBody?.content ?? {};
      const json = content["application/json"];
      const multipart = content["multipart/form-data"];
      const [sends] = Object.keys(content);
      const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
      const responses = Object.fromEntries(successes.map(([status, answer]) => [status, resultOf(answer)]));
      const kinds = Object.values(responses);
      const result = kinds.find((kind) => kind !== "empty") ?? "empty";
      const success = successes.find(([status]) => responses[status] === result)?.[1];
      const [receives] = Object.keys(success?.content ?? {});
      const ownWords = polish[operationId];
      const query = parameters.filter((parameter) => parameter.in === "query");
      const spec: CommandSpec = {
        operationId,
        words: ownWords?.words ?? operationId.split(".").map(kebab),
        summary: operation.summary ?? "",
        description: operation.description ?? "",
        method: method.toUpperCase(),
        path,
        ...(operation.security?.length === 0 && { open: true as const }),
        params: parameters.filter((parameter) => parameter.in === "path").map(({ name, description }) => ({ name, description: description ?? "" })),
        flags: [
          ...query.map((parameter) =>
            reader.flag("query", parameter.name, {
              schema: parameter.schema ?? {},
              required: parameter.required ?? false,
              description: parameter.description,
            }),
          ),
          ...reader.bodyFlags(json?.schema ?? multipart?.schema, method === "patch"),
        ],
        body: json ? "json" : multipart ? "multipart" : sends !== undefined ? "bytes" : "none",
        result,
        responses,
        ...(!json && !multipart && sends !== undefined && { sends }),
        ...(result === "bytes" && receives !== undefined && { receives }),
        fields: reader.fieldsOf(success?.content?.[receives ?? ""]?.schema),
        ...(operation.deprecated === true && { deprecated: true as const }),
        polish: {},
      };
      const isList = result === "page" || result === "tokenPage" || reader.isList(success?.content?.[receives ?? ""]?.schema);
      const own: Polish = {
        ...(path.startsWith("/browsers/{id}") && { id: "The session's id or name." }),
        ...(isList && { columns: columnsFor(reader.simpleFieldsOf(success?.content?.[receives ?? ""]?.schema)) }),
        ...ownWords,
      };
      return { ...spec, polish: { ...own, examples: own.examples ?? [exampleOf({ ...spec, polish: own })] } };
    });
  const words = new Map(specs.map((spec) => [spec.operationId, spec.words.join(" ")]));
  return specs.map((spec) => inWords(spec, words));
}

/** Says a command's texts in the words of the command line: flags for the wire's fields, commands for operations. */
function inWords(spec: CommandSpec, commands: ReadonlyMap<string, string>): CommandSpec {
  const names = new Map(
    spec.flags.map(({ field }) => [field, spec.polish.arguments?.includes(field) === true ? `<${kebab(field)}>` : fieldFlag(spec.polish, field)]),
  );
  const said = (text: string, from = "") =>
    text.replace(/`([\w.]+)`/g, (whole, name: string) => {
      const command = commands.get(name);
      if (command !== undefined) return `\`shoal ${command}\``;
      // Of an object's fields, one may name another: `id` of a profile beside its `name`.
      return names.get(from === "" ? name : `${from}.${name}`) ?? names.get(name) ?? whole;
    });
  const objectOf = (field: string) => (field.includes(".") ? (field.split(".")[0] ?? "") : "");
  return {
    ...spec,
    summary: said(spec.summary),
    description: said(spec.description),
    params: spec.params.map((param) => ({ ...param, description: said(param.description) })),
    flags: spec.flags.map((flag) => ({ ...flag, description: said(flag.description, objectOf(flag.field)) })),
  };
}

const telling = [
  "id",
  "session_id",
  "name",
  "app_name",
  "version",
  "action_name",
  "status",
  "type",
  "domain",
  "email",
  "created_at",
  "started_at",
  "expires_at",
];

/** Columns of a table that nobody chose: what tells one from the other first, and no more than fit. */
function columnsFor(fields: readonly string[]): (readonly [string, string])[] {
  const known = telling.filter((field) => fields.includes(field));
  const chosen = [...known, ...fields.filter((field) => !known.includes(field))].slice(0, 6);
  return chosen.map((field) => [field.replace(/_at$/, "").replaceAll("_", " ").toUpperCase(), field]);
}

const samples: Readonly<Record<FlagKind, string>> = {
  string: "TEXT",
  integer: "1",
  number: "1",
  boolean: "",
  map: "KEY=VALUE",
  list: "VALUE",
  json: "JSON",
  file: "FILE",
};

/** A call that nobody wrote down: the arguments, and the flags that it cannot do without. */
function exampleOf({ words, params, flags, polish }: CommandSpec): string {
  const { arguments: positional = [] } = polish;
  const needed = flags.filter(({ field, required }) => required && !positional.includes(field));
  const given = needed.map(({ field, kind, values }) => [fieldFlag(polish, field), values?.[0] ?? samples[kind]].filter(Boolean).join(" "));
  return [
    "shoal",
    ...words,
    ...params.map(({ name }) => kebab(name).toUpperCase()),
    ...positional.map((field) => kebab(field).toUpperCase()),
    ...given,
  ].join(" ");
}

/** Reads flags and fields off JSON Schemas. */
class SchemaReader {
  readonly #schemas: Readonly<Record<string, JsonSchema>>;

  constructor(document: OpenApiDocument) {
    this.#schemas = document.components?.schemas ?? {};
  }

  /** Flags for the fields of a body; of a union, for those of all its kinds. */
  bodyFlags(schema: JsonSchema | undefined, isChange: boolean): Flag[] {
    const { properties, required } = this.#objectOf(schema);
    return Object.entries(properties).flatMap(([field, value]) => {
      const whole = this.flag("body", field, { schema: value, required: required.has(field), isChange, description: value.description });
      if (whole.kind !== "json" || field === "viewport") return [whole];
      const inner = this.#objectOf(this.#real(value));
      const parts = Object.entries(inner.properties).map(([name, part]) =>
        this.flag("body", `${field}.${name}`, { schema: part, required: false, description: part.description }),
      );
      // A field beside the object that is spelt the same: `proxy_id` and `proxy.id`.
      const beside = new Set(Object.keys(properties).map(flagName));
      const simple = parts.filter((part) => part.kind !== "json" && part.kind !== "file" && !beside.has(flagName(part.field)));
      // Of an object with more objects in it, a few flags would say too little.
      if (simple.length === 0 || simple.length < parts.length - 1) return [whole];
      return [{ ...whole, ...(simple.length === parts.length && !whole.clearable && { hidden: true as const }) }, ...simple];
    });
  }

  flag(
    place: FlagPlace,
    field: string,
    source: { schema: JsonSchema; required: boolean; isChange?: boolean; description: string | undefined },
  ): Flag {
    const resolved = this.#resolve(source.schema);
    const variants = resolved.anyOf ?? resolved.oneOf;
    const nullable = typesOf(resolved).includes("null") || variants?.some((variant) => variant.type === "null") === true;
    const schema = this.#real(source.schema);
    const values = schema.enum?.filter((value) => typeof value === "string");
    const fallback = resolved.default ?? schema.default;
    return {
      field,
      place,
      kind: this.#kindOf(schema),
      ...(values && values.length > 0 && { values }),
      required: source.required,
      clearable: nullable && source.isChange === true,
      description: source.description ?? resolved.description ?? schema.description ?? "",
      ...(fallback !== undefined && { default: fallback }),
      ...(schema.maximum !== undefined && { maximum: schema.maximum }),
    };
  }

  /** Names of the fields of an answer, or of one item of a list. */
  fieldsOf(schema: JsonSchema | undefined): string[] {
    return Object.keys(this.#objectOf(this.#item(schema)).properties);
  }

  /** Of these, the ones that fit into a cell. */
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

  /** The schema beneath what only says that a value may be null. */
  #real(schema: JsonSchema): JsonSchema {
    const resolved = this.#resolve(schema);
    const variants = (resolved.anyOf ?? resolved.oneOf)?.filter((variant) => variant.type !== "null");
    return variants?.length === 1 ? this.#real(variants[0] ?? {}) : resolved;
  }

  /** Fields of an object; of a union all that any of its kinds has, required when every kind requires them. */
  #objectOf(schema: JsonSchema | undefined): { properties: Readonly<Record<string, JsonSchema>>; required: ReadonlySet<string> } {
    const resolved = this.#resolve(schema);
    const variants = [...(resolved.anyOf ?? resolved.oneOf ?? [])]
      .filter((variant) => variant.type !== "null")
      .map((variant) => this.#objectOf(variant));
    const parts = (resolved.allOf ?? []).map((part) => this.#objectOf(part));
    const [first, ...others] = variants;
    return {
      properties: Object.assign(
        {},
        ...variants.map(({ properties }) => properties),
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
    const variants = (schema.anyOf ?? schema.oneOf)?.map((variant) => this.#real(variant)) ?? [];
    return variants.length > 0 && variants.every((variant) => typesOf(variant).includes("string")) ? "string" : "json";
  }

  #isText(schema: JsonSchema): boolean {
    return typesOf(this.#real(schema)).includes("string");
  }
}
