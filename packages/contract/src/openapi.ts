import { ErrorBody } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { Contract, Endpoint, RequestBody, ResponseContent } from "./endpoint.ts";
import { collectSchemas, type Direction, type FieldDocs, type JsonSchema, type SchemaCollector } from "./json-schemas.ts";

export type { FieldDocs } from "./json-schemas.ts";

/** What is said about an operation and its inputs. */
export interface OperationDocs {
  readonly description?: string;
  readonly params?: FieldDocs;
  readonly query?: FieldDocs;
  readonly body?: FieldDocs;
  readonly answer?: FieldDocs;
}

/** The prose of a document, which schemas do not carry: it would be in every bundle. Read from the comments in the sources. */
export interface Descriptions {
  /** By the name of the component. */
  readonly schemas: Readonly<Record<string, FieldDocs>>;
  /** By the operation's name in the contract. */
  readonly operations: Readonly<Record<string, OperationDocs>>;
}

/** What a document says beside the operations. */
export interface OpenApiOptions {
  readonly title: string;
  /** Of the interface described. */
  readonly version: string;
  readonly description?: string;
  readonly descriptions?: Descriptions;
  /** Schemas that become components, by name, beside those of `@shoal/schemas`. */
  readonly schemas?: Readonly<Record<string, z.core.$ZodType>>;
}

type Json = Record<string, unknown>;

/**
 * Describes operations as an OpenAPI 3.1 document.
 *
 * @returns a plain object, in the order of the contract: equal contracts give equal text.
 * @throws {Error} when two operations share an operationId, or a method and path.
 */
export function toOpenApi(contract: Contract, options: OpenApiOptions): Record<string, unknown> {
  const { descriptions, description, title, version } = options;
  const endpoints = Object.entries(contract);
  const collector = collectSchemas(schemasOf(endpoints.map(([, endpoint]) => endpoint)), options.schemas ?? {}, descriptions?.schemas ?? {});
  const paths: Record<string, Json> = {};
  const ids = new Set<string>();
  const statuses = new Set<number>();
  for (const [name, endpoint] of endpoints) {
    const { errors, method, operationId, path } = endpoint;
    if (ids.has(operationId)) throw new Error(`Two operations are called ${operationId}.`);
    ids.add(operationId);
    const item = (paths[path] ??= {});
    const verb = method.toLowerCase();
    if (verb in item) throw new Error(`Two operations answer ${method} ${path}.`);
    item[verb] = operationOf(endpoint, collector, descriptions?.operations[name] ?? {});
    for (const status of errors) statuses.add(status);
  }
  const responses = Object.fromEntries([...statuses].sort((a, b) => a - b).map((status) => [errorName(status), errorResponse(status, collector)]));
  const areas = [...new Set(endpoints.map(([, { area }]) => area))];
  return {
    openapi: "3.1.0",
    info: { title, version, ...(description !== undefined && { description }) },
    servers: [{ url: "/" }],
    security: [{ bearerAuth: [] }],
    tags: areas.map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { bearerAuth: { type: "http", scheme: "bearer", description: "An API key." } },
      headers: headersIn([paths, responses]),
      responses,
      schemas: collector.components(),
    },
  };
}

/** Every schema of the operations, by the direction in which it travels. */
function schemasOf(endpoints: readonly Endpoint[]): Record<Direction, z.core.$ZodType[]> {
  const request: z.core.$ZodType[] = [];
  const answer: z.core.$ZodType[] = [ErrorBody];
  for (const { body, params, query, responses } of endpoints) {
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

function operationOf(endpoint: Endpoint, collector: SchemaCollector, docs: OperationDocs): Json {
  const { area, auth, body, deprecated, errors, operationId, responses, summary } = endpoint;
  const parameters = parametersOf(endpoint, collector, docs);
  const success = Object.entries(responses).map(([status, content]) => [status, responseOf(Number(status), content, collector, docs.answer)] as const);
  const failure = errors.map((status) => [String(status), { $ref: `#/components/responses/${errorName(status)}` }] as const);
  return {
    operationId,
    tags: [area],
    summary,
    ...(docs.description !== undefined && { description: docs.description }),
    ...(deprecated === true && { deprecated }),
    ...(auth === "none" && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: requestBodyOf(body, collector, docs.body) }),
    responses: Object.fromEntries([...success, ...failure]),
  };
}

function parametersOf(endpoint: Endpoint, collector: SchemaCollector, docs: OperationDocs): Json[] {
  const { method, params, query, responses } = endpoint;
  const parameters: Json[] = [];
  if (params !== undefined) {
    for (const { name, schema } of fieldsOf(collector.spellOut(params, "request", docs.params))) parameters.push(parameter("path", name, true, schema));
  }
  if (query !== undefined) {
    for (const { name, required, schema } of fieldsOf(collector.spellOut(query, "request", docs.query))) {
      const style = schema.type === "object" ? { style: "deepObject", explode: true } : schema.type === "array" ? { style: "form", explode: false } : {};
      parameters.push({ ...parameter("query", name, required, schema), ...style });
    }
  }
  if (method === "POST") {
    parameters.push(
      parameter("header", "Idempotency-Key", false, {
        type: "string",
        minLength: 1,
        maxLength: 255,
        description: "Names this call. A repetition with the same key within 24 hours gets the first answer, and nothing is done twice.",
      }),
    );
  }
  if (Object.values(responses).some(({ kind }) => kind === "events")) {
    parameters.push(
      parameter("header", "Last-Event-ID", false, { type: "string", description: "The id of the last event that was received; the stream goes on after it." }),
      parameter("header", "X-Shoal-Stream", false, { type: "string", enum: ["gaps"], description: "`gaps` asks for an event of type `gap`, with the number that is `missed`, wherever events can no longer be had." }),
    );
  }
  return parameters;
}

/** A parameter; what is said about the field stands beside the schema, not in it. */
function parameter(place: "path" | "query" | "header", name: string, required: boolean, field: JsonSchema): Json {
  const { deprecated, description, ...schema } = field;
  return { name, in: place, required, ...(description !== undefined && { description }), ...(deprecated === true && { deprecated }), schema };
}

function fieldsOf(schema: JsonSchema): { name: string; required: boolean; schema: JsonSchema }[] {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, JsonSchema>; required?: string[] };
  return Object.entries(properties).map(([name, field]) => ({ name, required: required.includes(name), schema: field }));
}

function requestBodyOf(body: RequestBody, collector: SchemaCollector, docs: FieldDocs | undefined): Json {
  switch (body.kind) {
    case "json":
      return { required: !body.optional, content: { "application/json": { schema: collector.use(body.schema, "request", docs) } } };
    case "multipart":
      return { required: true, content: { "multipart/form-data": { schema: collector.use(body.schema, "request", docs) } } };
    case "bytes":
      return { required: true, content: { [body.contentType]: { schema: { type: "string", format: "binary" } } } };
  }
}

function responseOf(status: number, content: ResponseContent, collector: SchemaCollector, docs: FieldDocs | undefined): Json {
  const response = (type: string, schema: JsonSchema, headers: readonly string[] = []): Json => ({
    description: statusText(status),
    headers: headerRefs("X-Request-Id", ...headers),
    content: { [type]: { schema } },
  });
  switch (content.kind) {
    case "json":
      return response("application/json", collector.use(content.schema, "answer", docs));
    case "page":
      return response("application/json", { type: "array", items: collector.use(content.item, "answer", docs) }, ["X-Limit", "X-Offset", "X-Has-More", "X-Next-Offset"]);
    case "tokenPage":
      return response("application/json", { type: "array", items: collector.use(content.item, "answer", docs) }, ["X-Limit", "X-Has-More", "X-Next-Page-Token"]);
    case "events":
      return response("text/event-stream", collector.use(content.event, "answer", docs), ["X-SSE-Content-Type"]);
    case "bytes":
      return response(content.contentType, { type: "string", format: "binary" }, ["Content-Disposition", ...(content.headers ?? [])]);
    case "empty":
      return { description: statusText(status), headers: headerRefs("X-Request-Id", ...(status === 202 ? ["Retry-After"] : [])) };
  }
}

function errorResponse(status: number, collector: SchemaCollector): Json {
  const headers = ["X-Request-Id"];
  if (status === 429 || status === 503 || status === 529) headers.push("Retry-After");
  if (status === 409) headers.push("X-Should-Retry");
  return { description: statusText(status), headers: headerRefs(...headers), content: { "application/json": { schema: collector.use(ErrorBody, "answer") } } };
}

function headerRefs(...names: string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The headers that a part of the document refers to. @throws {Error} for one that is not known here. */
function headersIn(part: unknown): Record<string, Json> {
  const names = new Set([...JSON.stringify(part).matchAll(/"#\/components\/headers\/([^"]+)"/g)].map(([, name = ""]) => name));
  return Object.fromEntries(
    [...names].sort().map((name) => {
      const header = sharedHeaders[name];
      if (header === undefined) throw new Error(`The header ${name} has no description: give it one among the shared headers of openapi.ts.`);
      return [name, header];
    }),
  );
}

const sharedHeaders: Record<string, Json> = {
  "Content-Disposition": { description: "The name under which to save the bytes, where they have one.", schema: { type: "string" } },
  "Retry-After": { description: "Seconds to wait before another attempt.", schema: { type: "integer", minimum: 0 } },
  "X-Content-Sha256": { description: "SHA-256 of the body's bytes, as 64 hexadecimal digits.", schema: { type: "string", pattern: "^[a-f0-9]{64}$" } },
  "X-Has-More": { description: "Whether a further page exists.", schema: { type: "boolean" } },
  "X-Limit": { description: "Items on a page.", schema: { type: "integer" } },
  "X-Next-Cursor": { description: "The `cursor` that goes on after this part; absent on the last one.", schema: { type: "string" } },
  "X-Next-Offset": { description: "The `offset` of the next page; absent on the last one.", schema: { type: "integer" } },
  "X-Next-Page-Token": { description: "The `page_token` of the next page; absent on the last one.", schema: { type: "string" } },
  "X-Offset": { description: "Items before this page.", schema: { type: "integer" } },
  "X-Request-Id": { description: "Names the request in the service's log: the caller's own, where it sent one of 1 to 64 letters, digits, dots, underscores and hyphens.", schema: { type: "string" } },
  "X-Row-Count": { description: "Rows in the body.", schema: { type: "integer", minimum: 0 } },
  "X-SSE-Content-Type": { description: "Type of the `data` of each event.", schema: { type: "string", const: "application/json" } },
  "X-Should-Retry": { description: "`false`: the same call will fail again.", schema: { type: "string", const: "false" } },
};

const statusTexts: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  507: "Insufficient Storage",
  529: "Overloaded",
};

function statusText(status: number): string {
  return statusTexts[status] ?? `Status ${status}`;
}

function errorName(status: number): string {
  return statusText(status).replaceAll(" ", "");
}
