import { ErrorBody } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { Contract, Endpoint, RequestBody } from "../base/endpoint.ts";
import { collectSchemas, type Direction, type FieldDocs, type SchemaCollector } from "./json-schemas.ts";
import type { JsonSchema } from "./json-schema.ts";
import { addKeywords } from "./stated-rules.ts";
import { splitVariants, type Variants } from "./variants.ts";
import { errorStatusesOf } from "../base/error-statuses.ts";
import { errorName, errorResponse, headersIn, ownErrorResponse, responseOf } from "./openapi-answers.ts";

export type { FieldDocs } from "./json-schemas.ts";

/** The descriptions of an operation and its inputs. */
export interface OperationDocs {
  readonly description?: string;
  readonly params?: FieldDocs;
  readonly query?: FieldDocs;
  readonly body?: FieldDocs;
  readonly answer?: FieldDocs;
}

/** The descriptions of a document, read from comments in the sources; schemas do not contain them, so that bundles stay small. */
export interface Descriptions {
  /** By the component's name. */
  readonly schemas: Readonly<Record<string, FieldDocs>>;
  /** By the area's name. */
  readonly areas?: Readonly<Record<string, string>>;
  /** By the operation's name in the contract. */
  readonly operations: Readonly<Record<string, OperationDocs>>;
}

/** A request header, described once as a component. */
export interface SharedHeader {
  /** For example `X-Tenant`. */
  readonly name: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** Options of {@link toOpenApi}. */
export interface OpenApiOptions {
  readonly title: string;
  /** Version of the API. */
  readonly version: string;
  readonly description?: string;
  readonly license?: { readonly name: string; readonly identifier: string };
  readonly descriptions?: Descriptions;
  /** Optional headers of all operations with authentication, by component name. */
  readonly headers?: Readonly<Record<string, SharedHeader>>;
  /** Examples by component name. If requests and responses differ, the example belongs to the response. */
  readonly examples?: Readonly<Record<string, readonly unknown[]>>;
  /** Components that are `oneOf` several objects, by name. */
  readonly variants?: Readonly<Record<string, Variants>>;
  /** Rules of components that their schemas do not state, by name. */
  readonly furtherKeywords?: Readonly<Record<string, readonly JsonSchema[]>>;
  /** Ids of operations that return 501 in this version. */
  readonly notImplemented?: ReadonlySet<string>;
  /** Components by name, in addition to those of `@shoal/schemas`. */
  readonly schemas?: Readonly<Record<string, z.core.$ZodType>>;
}

type Json = Record<string, unknown>;

/**
 * Describes operations as an OpenAPI 3.1 document.
 * @returns a plain object in the order of the contract; equal contracts produce equal text.
 * @throws {Error} for a duplicate operationId or route.
 */
export function toOpenApi(contract: Contract, options: OpenApiOptions): Record<string, unknown> {
  const { descriptions, description, headers = {}, license, title, version } = options;
  const shared = Object.keys(headers).map((name) => ({ $ref: `#/components/parameters/${name}` }));
  const endpoints = Object.entries(contract);
  const collector = collectSchemas(
    schemasOf(endpoints.map(([, endpoint]) => endpoint)),
    options.schemas ?? {},
    descriptions?.schemas ?? {},
  );
  const paths: Record<string, Json> = {};
  const ids = new Set<string>();
  const statuses = new Set<number>();
  for (const [name, endpoint] of endpoints) {
    const { method, operationId, path } = endpoint;
    if (ids.has(operationId)) throw new Error(`Two operations are called ${operationId}.`);
    ids.add(operationId);
    const item = (paths[path] ??= {});
    const verb = method.toLowerCase();
    if (verb in item) throw new Error(`Two operations answer ${method} ${path}.`);
    item[verb] = operationOf(endpoint, collector, {
      docs: descriptions?.operations[name] ?? {},
      shared: endpoint.auth === "none" ? [] : shared,
      errors: errorsOf(endpoint, options),
    });
    for (const status of errorsOf(endpoint, options))
      if (endpoint.errorBodies?.[status] === undefined) statuses.add(status);
  }
  const responses = Object.fromEntries(
    [...statuses].sort((a, b) => a - b).map((status) => [errorName(status), errorResponse(status, collector)]),
  );
  const order = Object.keys(descriptions?.areas ?? {});
  const areas = [...new Set(endpoints.map(([, { area }]) => area))].sort((a, b) => order.indexOf(a) - order.indexOf(b));
  const components = componentsOf(collector, options);
  for (const part of [components, paths, responses]) nameKinds(part, components);
  return {
    openapi: "3.1.0",
    info: { title, version, ...(description !== undefined && { description }), ...(license && { license }) },
    servers: [{ url: "/" }],
    security: [{ bearerAuth: [] }],
    tags: areas.map((name) => ({
      name,
      ...(descriptions?.areas?.[name] !== undefined && { description: descriptions.areas[name] }),
    })),
    paths,
    components: {
      securitySchemes: {
        bearerAuth: { type: "http", scheme: "bearer", description: "An API key." },
        ...(endpoints.some(([, { handoff }]) => handoff === "accepts") && {
          handoffAuth: {
            type: "http",
            scheme: "bearer",
            bearerFormat: "JWT",
            description: "The token of a sign-in page, for one login.",
          },
        }),
      },
      ...(shared.length > 0 && {
        parameters: Object.fromEntries(
          Object.entries(headers).map(([component, { name, description: text, schema }]) => [
            component,
            parameter("header", name, false, { ...schema, description: text }),
          ]),
        ),
      }),
      headers: headersIn([paths, responses]),
      responses,
      schemas: components,
    },
  };
}

/** The components with their variants, rules and examples. */
function componentsOf(
  collector: SchemaCollector,
  { examples = {}, furtherKeywords = {}, variants = {} }: OpenApiOptions,
): Record<string, JsonSchema> {
  const components = splitVariants(collector.components(), variants);
  const named = (name: string, what: string): JsonSchema => {
    const component = components[name];
    if (component === undefined) throw new Error(`The ${what} for ${name} has no component in the document.`);
    return component;
  };
  for (const [name, further] of Object.entries(furtherKeywords))
    for (const keywords of further) addKeywords(named(name, "rule"), structuredClone(keywords));
  for (const [name, values] of Object.entries(examples)) named(name, "example").examples = values;
  return components;
}

/** All schemas of the operations, by direction. */
function schemasOf(endpoints: readonly Endpoint[]): Record<Direction, z.core.$ZodType[]> {
  const request: z.core.$ZodType[] = [];
  const answer: z.core.$ZodType[] = [ErrorBody];
  for (const { body, errorBodies = {}, params, query, responses } of endpoints) {
    answer.push(...Object.values(errorBodies));
    for (const schema of [params, query]) if (schema !== undefined) request.push(schema);
    if (body !== undefined && body.kind !== "bytes") request.push(body.schema);
    for (const content of Object.values(responses)) {
      if (content.kind === "json") answer.push(content.schema);
      else if (content.kind === "page" || content.kind === "tokenPage") answer.push(content.item);
      else if (content.kind === "events") answer.push(content.event);
    }
  }
  return { request, answer };
}

interface OperationParts {
  readonly docs: OperationDocs;
  /** Parameters of all operations. */
  readonly shared: readonly Json[];
  readonly errors: readonly number[];
}

/** The statuses with an error body; includes 501 for operations that are not implemented. */
function errorsOf(endpoint: Endpoint, { notImplemented }: OpenApiOptions): readonly number[] {
  const statuses = errorStatusesOf(endpoint);
  if (notImplemented?.has(endpoint.operationId) !== true || statuses.includes(501)) return statuses;
  return [...statuses, 501].sort((a, b) => a - b);
}

function operationOf(endpoint: Endpoint, collector: SchemaCollector, { docs, errors, shared }: OperationParts): Json {
  const { area, auth, body, deprecated, errorBodies = {}, handoff, operationId, responses, summary } = endpoint;
  const parameters = [...parametersOf(endpoint, collector, docs), ...shared];
  const hasFields = endpoint.query !== undefined || (body !== undefined && body.kind !== "bytes");
  const success = Object.entries(responses).map(
    ([status, content]) =>
      [status, responseOf(Number(status), content, { collector, docs: docs.answer, hasFields })] as const,
  );
  const failure = errors.map((status) => {
    const own = errorBodies[status];
    return [
      String(status),
      own === undefined
        ? { $ref: `#/components/responses/${errorName(status)}` }
        : ownErrorResponse(status, own, collector),
    ] as const;
  });
  return {
    operationId,
    tags: [area],
    summary,
    ...(docs.description !== undefined && { description: docs.description }),
    ...(deprecated === true && { deprecated }),
    ...(auth === "none" && { security: [] }),
    ...(handoff === "accepts" && { security: [{ bearerAuth: [] }, { handoffAuth: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: requestBodyOf(body, collector, docs.body) }),
    responses: Object.fromEntries([...success, ...failure]),
  };
}

function parametersOf(endpoint: Endpoint, collector: SchemaCollector, docs: OperationDocs): Json[] {
  const { idempotency = "answer", method, params, query, responses } = endpoint;
  const parameters: Json[] = [];
  if (params !== undefined) {
    for (const { name, schema } of fieldsOf(collector.spellOut(params, "request", docs.params)))
      parameters.push(parameter("path", name, true, schema));
  }
  if (query !== undefined) {
    for (const { name, required, schema } of fieldsOf(collector.spellOut(query, "request", docs.query))) {
      const style =
        schema.type === "object"
          ? { style: "deepObject", explode: true }
          : schema.type === "array"
            ? { style: "form", explode: false }
            : {};
      parameters.push({ ...parameter("query", name, required, schema), ...style });
    }
  }
  if (method === "POST" && typeof idempotency === "string") {
    parameters.push(
      parameter("header", "Idempotency-Key", false, {
        type: "string",
        minLength: 1,
        maxLength: 255,
        pattern: "^[ -~]{1,255}$",
        description:
          "Names this call. A repetition with the same key within `idempotency_retention_hours` (24) gets the first answer, and nothing is done twice.",
      }),
    );
  }
  if (Object.values(responses).some(({ kind }) => kind === "events")) {
    parameters.push(
      parameter("header", "Last-Event-ID", false, {
        type: "string",
        description: "The id of the last event that was received; the stream continues after it.",
      }),
      parameter("header", "X-Shoal-Stream", false, {
        type: "string",
        pattern: "^ *(gaps|caught_up)( *, *(gaps|caught_up))* *$",
        description:
          "Words separated by commas. `gaps` requests an event of type `gap`, with the number `missed`, where events are no longer available. `caught_up` requests an event of type `caught_up`, once a connection, after the last event that was stored when the stream was opened.",
      }),
    );
  }
  return parameters;
}

/** Moves `description` and `deprecated` from the schema to the parameter, as OpenAPI requires. */
function parameter(place: "path" | "query" | "header", name: string, required: boolean, field: JsonSchema): Json {
  const { deprecated, description, ...schema } = field;
  return {
    name,
    in: place,
    required,
    ...(description !== undefined && { description }),
    ...(deprecated === true && { deprecated }),
    schema,
  };
}

function fieldsOf(schema: JsonSchema): { name: string; required: boolean; schema: JsonSchema }[] {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, JsonSchema>; required?: string[] };
  return Object.entries(properties).map(([name, field]) => ({
    name,
    required: required.includes(name),
    schema: field,
  }));
}

function sizeText(bytes: number): string {
  return bytes % 2 ** 20 === 0 ? `${String(bytes / 2 ** 20)} MiB` : `${String(bytes / 2 ** 10)} KiB`;
}

function requestBodyOf(body: RequestBody, collector: SchemaCollector, docs: FieldDocs | undefined): Json {
  switch (body.kind) {
    case "json":
      return {
        ...(body.limitBytes !== undefined && { description: `At most ${sizeText(body.limitBytes)}.` }),
        required: !body.optional,
        content: { "application/json": { schema: collector.use(body.schema, "request", docs) } },
      };
    case "multipart":
      return {
        required: true,
        content: {
          "multipart/form-data": {
            schema: collector.use(body.schema, "request", docs),
            ...encodingOf(collector.spellOut(body.schema, "request")),
          },
        },
      };
    case "bytes":
      return { required: true, content: { [body.contentType]: { schema: { type: "string", format: "binary" } } } };
  }
}

/** Encodings of multipart parts other than text: files as bytes, maps and objects with files as `env[KEY]` and `files[0][file]`, other objects as JSON. */
function encodingOf(schema: JsonSchema): { encoding?: Json } {
  const encoding: Json = {};
  for (const { name, schema: field } of fieldsOf(schema)) {
    if (field.format === "binary") encoding[name] = { contentType: "application/octet-stream" };
    else if (field.additionalProperties !== undefined || JSON.stringify(field).includes('"format":"binary"'))
      encoding[name] = { style: "deepObject", explode: true };
    else if (field.type === "object" || field.$ref !== undefined) encoding[name] = { contentType: "application/json" };
  }
  return Object.keys(encoding).length === 0 ? {} : { encoding };
}

/** Adds the mapping from discriminator values to components. */
function nameKinds(node: unknown, components: Readonly<Record<string, JsonSchema>>): void {
  if (typeof node !== "object" || node === null) return;
  const { discriminator, oneOf } = node as {
    discriminator?: { propertyName: string; mapping?: Json };
    oneOf?: readonly JsonSchema[];
  };
  if (discriminator !== undefined && oneOf?.every(({ $ref }) => typeof $ref === "string") === true) {
    discriminator.mapping = Object.fromEntries(
      oneOf.flatMap(({ $ref }) =>
        kindsOf(String($ref), discriminator.propertyName, components).map((kind) => [kind, $ref]),
      ),
    );
  }
  for (const inner of Object.values(node)) nameKinds(inner, components);
}

function kindsOf(ref: string, propertyName: string, components: Readonly<Record<string, JsonSchema>>): string[] {
  const { properties = {} } = (components[ref.slice(ref.lastIndexOf("/") + 1)] ?? {}) as {
    properties?: Record<string, { const?: string; enum?: string[] }>;
  };
  const { const: one, enum: several = [] } = properties[propertyName] ?? {};
  return one === undefined ? several : [one];
}
