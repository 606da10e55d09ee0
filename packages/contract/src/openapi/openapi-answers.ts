import { ErrorBody, type Schema } from "@shoal/schemas";
import type { ResponseContent } from "../base/endpoint.ts";
import type { JsonSchema } from "./json-schema.ts";
import type { FieldDocs, SchemaCollector } from "./json-schemas.ts";

type Json = Record<string, unknown>;

export interface ResponseParts {
  readonly collector: SchemaCollector;
  readonly docs: FieldDocs | undefined;
  /** Whether the request has fields or parameters that the service may ignore. */
  readonly hasFields: boolean;
}

export function responseOf(
  status: number,
  content: ResponseContent,
  { collector, docs, hasFields }: ResponseParts,
): Json {
  const usual = ["X-Request-Id", ...(hasFields ? ["X-Shoal-Ignored-Fields"] : [])];
  const response = (type: string, media: Json, headers: readonly string[] = []): Json => ({
    description: statusText(status),
    headers: headerRefs(...usual, ...headers),
    content: { [type]: media },
  });
  const list = (item: Schema): Json => ({ schema: { type: "array", items: collector.use(item, "answer", docs) } });
  switch (content.kind) {
    case "json":
      return withTypes(
        response("application/json", { schema: collector.use(content.schema, "answer", docs) }),
        content.alsoTypes,
      );
    case "page":
      return response("application/json", list(content.item), ["X-Limit", "X-Offset", "X-Has-More", "X-Next-Offset"]);
    case "tokenPage":
      return response("application/json", list(content.item), ["X-Limit", "X-Has-More", "X-Next-Page-Token"]);
    case "events":
      return {
        ...response("text/event-stream", eventsOf(collector.use(content.event, "answer", docs)), [
          "X-SSE-Content-Type",
        ]),
        description:
          "Server-sent events. The schema is that of one event's `data`; `x-itemSchema` describes the whole event.",
      };
    case "bytes":
      return response(content.contentType, { schema: { type: "string", format: "binary" } }, [
        "Content-Disposition",
        ...(content.headers ?? []),
      ]);
    case "empty":
      return {
        description:
          status === 202 ? "The file is not complete. Try again after `Retry-After` seconds." : statusText(status),
        headers: headerRefs(...usual, ...(status === 202 ? ["Retry-After"] : [])),
      };
  }
}

function withTypes(response: Json, types: readonly string[] = []): Json {
  const bytes = Object.fromEntries(types.map((type) => [type, { schema: { type: "string", format: "binary" } }]));
  return { ...response, content: { ...(response.content as Json), ...bytes } };
}

/** OpenAPI 3.1 cannot describe the items of a stream; in 3.2, `x-itemSchema` is `itemSchema`. */
function eventsOf(event: JsonSchema): Json {
  return {
    schema: event,
    "x-itemSchema": {
      type: "object",
      required: ["data"],
      properties: {
        id: { type: "string", description: "Send it as `Last-Event-ID` to continue after this event." },
        event: {
          type: "string",
          description: "`gap` for an event with the number of missed events; absent otherwise.",
        },
        data: { type: "string", contentMediaType: "application/json", contentSchema: event },
      },
    },
  };
}

/** The shared response for a status with the common error body. */
export function errorResponse(status: number, collector: SchemaCollector): Json {
  return errorWith(status, collector.use(ErrorBody, "answer"));
}

/** The response of an operation with its own error body. */
export function ownErrorResponse(status: number, schema: Schema, collector: SchemaCollector): Json {
  return errorWith(status, collector.use(schema, "answer"));
}

function errorWith(status: number, schema: JsonSchema): Json {
  const headers = ["X-Request-Id"];
  if (status === 429 || status === 503 || status === 529) headers.push("Retry-After");
  if (status === 400) headers.push("X-Shoal-Ignored-Fields");
  if (status === 409 || status === 501) headers.push("X-Should-Retry");
  return {
    description: statusText(status),
    headers: headerRefs(...headers),
    content: { "application/json": { schema } },
  };
}

function headerRefs(...names: string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The shared headers that a part of the document refers to. @throws {Error} for an unknown header. */
export function headersIn(part: unknown): Record<string, Json> {
  const names = new Set(
    [...JSON.stringify(part).matchAll(/"#\/components\/headers\/([^"]+)"/g)].map(([, name = ""]) => name),
  );
  return Object.fromEntries(
    [...names].sort().map((name) => {
      const header = sharedHeaders[name];
      if (header === undefined)
        throw new Error(
          `The header ${name} has no description: give it one among the shared headers of openapi-answers.ts.`,
        );
      return [name, header];
    }),
  );
}

const sharedHeaders: Record<string, Json> = {
  "Content-Disposition": {
    description: "The name under which to save the bytes, where they have one.",
    schema: { type: "string" },
  },
  "Retry-After": { description: "Seconds to wait before another attempt.", schema: { type: "integer", minimum: 0 } },
  "X-Content-Sha256": {
    description: "SHA-256 of the body's bytes, as 64 hexadecimal digits.",
    schema: { type: "string", pattern: "^[a-f0-9]{64}$" },
  },
  "X-Has-More": { description: "Whether a further page exists.", schema: { type: "boolean" } },
  "X-Limit": { description: "Items on a page.", schema: { type: "integer" } },
  "X-Next-Cursor": {
    description: "The `cursor` of the next part; absent for the last one.",
    schema: { type: "string" },
  },
  "X-Next-Offset": {
    description: "The `offset` of the next page; `0` on the last one.",
    schema: { type: "integer" },
  },
  "X-Next-Page-Token": {
    description: "The `page_token` of the next page; absent on the last one.",
    schema: { type: "string" },
  },
  "X-Offset": { description: "Items before this page.", schema: { type: "integer" } },
  "X-Request-Id": {
    description:
      "Names the request in the service's log: the caller's own, where it sent one of 1 to 64 letters, digits, dots, underscores and hyphens.",
    schema: { type: "string" },
  },
  "X-Row-Count": { description: "Rows in the body.", schema: { type: "integer", minimum: 0 } },
  "X-SSE-Content-Type": {
    description: "Type of the `data` of each event.",
    schema: { type: "string", const: "application/json" },
  },
  "X-Shoal-Ignored-Fields": {
    description:
      "Body fields and query parameters of the request that the service does not know and ignored, separated by commas: `body.browser, query.limt (did you mean limit?)`. Absent when all are known.",
    schema: { type: "string" },
  },
  "X-Should-Retry": {
    description: "`false`: the same call will fail again.",
    schema: { type: "string", const: "false" },
  },
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
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
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

/** The component name for an error status. */
export function errorName(status: number): string {
  return statusText(status).replaceAll(" ", "");
}
