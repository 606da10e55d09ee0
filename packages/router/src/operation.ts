import type { BytesContent, Endpoint, Page, ResponseContent, TokenPage } from "@shoal/contract";
import * as z from "zod/mini";
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { contentDisposition, whenReadable } from "./bytes-reply.ts";
import { jsonHeaders } from "./error-reply.ts";
import { defaultHeartbeatMs, eventHeaders } from "./event-reply.ts";
import { ClientGone, GuardedStream } from "./guarded-stream.ts";
import type { BytesReply, StreamFrame } from "./handler.ts";
import { IgnoredFields } from "./ignored-fields.ts";
import { invalidRequest, issueMessage, maxProblems, problemsOf, type Problem } from "./issues.ts";
import { createLargeBodies, defaultBodyLimitBytes, readJson, refuseEncoding } from "./json-body.ts";
import { unknownPart } from "./known-parts.ts";
import { MultipartParts } from "./multipart.ts";
import { createQueryReader, unknownParameter, unwrap, type QueryReader } from "./query-reader.ts";
import type { Reply } from "./reply.ts";
import { serializedBytes } from "./serialized-json.ts";
import { isStatusReply } from "./status-reply.ts";
import { strict } from "./strict-schema.ts";
import { removeUnknownKeys } from "./unknown-keys.ts";

/** What both adapters take beside the handler. */
export interface OperationOptions {
  /** Largest JSON body where its endpoint does not say, and largest sum of a multipart body's text fields, in bytes; 1 MiB when absent. */
  readonly bodyLimitBytes?: number;
  /** Milliseconds between two comments on an event stream; 15,000 when absent. */
  readonly heartbeatMs?: number;
  /**
   * What happens to body fields and query parameters that the endpoint does not declare. `ignore` drops them and lists them in the answer header
   * `X-Shoal-Ignored-Fields`; `refuse` answers 400 and names them. Default `ignore`.
   */
  readonly unknownFields?: UnknownFields;
}

/** See {@link OperationOptions.unknownFields}. */
export type UnknownFields = "ignore" | "refuse";

/** A {@link HandlerCall} whose endpoint is not known, for code that goes round every handler. */
interface AnyCall<Context> {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly lastEventId: string | undefined;
  readonly context: Context;
}

/** A handler of an endpoint that is not known. */
export type AnyHandler<Context> = (call: AnyCall<Context>) => unknown;

/** One request as an adapter hands it over. */
interface Exchange<Context> {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Placeholders of the path, decoded. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** Values of placeholders that the server has taken off the path; they are not checked. */
  readonly fixedParams: Readonly<Record<string, string>> | undefined;
  /** What follows the `?`, as it came. */
  readonly queryString: string;
  readonly context: Context;
  /** `refuse` where this request asks for that, whatever the operation does. */
  readonly unknownFields?: UnknownFields | undefined;
  /** Reports what was ignored, as the value of the header. Called before the answer is known, and for requests that are refused too. */
  onIgnored(fields: string): void;
}

/** An endpoint and its handler, ready to answer requests. */
export interface Operation<Context> {
  readonly endpoint: Endpoint;
  /** Whether a HEAD of the path can be answered by a GET whose body is dropped. */
  readonly takesHead: boolean;
  /** Never writes to the response. @throws {ServiceError} and whatever the handler throws. */
  answer(exchange: Exchange<Context>): Promise<Reply>;
}

/** The readers of an endpoint's parts; made by the first request, which spares a program's start. */
interface Readers {
  readonly params: z.core.$ZodType | undefined;
  readonly query: z.core.$ZodType | undefined;
  readonly readQuery: QueryReader | undefined;
  readonly body: z.core.$ZodType | undefined;
}

interface Answer {
  readonly status: number;
  readonly content: ResponseContent;
}

const nothing: Readonly<Record<string, never>> = Object.freeze({});

/**
 * Joins an endpoint and its handler. Knows nothing of the server that the requests come from.
 *
 * @param fixedParams - names of placeholders that the server has already taken off the path; they are not checked.
 */
export function createOperation<Context>(
  endpoint: Endpoint,
  handler: AnyHandler<Context>,
  options: OperationOptions = {},
  fixedParams: readonly string[] = [],
): Operation<Context> {
  const answers = Object.entries(endpoint.responses).map(([status, content]): Answer => ({ status: Number(status), content }));
  const bodiless = answers.find(({ content }) => content.kind === "empty");
  const main = answers.find(({ content }) => content.kind !== "empty") ?? bodiless;
  if (main === undefined) throw new TypeError(`${endpoint.operationId} declares no response.`);
  const mainAnswer = main;
  const bodyLimitBytes = options.bodyLimitBytes ?? defaultBodyLimitBytes;
  const heartbeatMs = options.heartbeatMs ?? defaultHeartbeatMs;
  const largeBodies = createLargeBodies(bodyLimitBytes);
  let readers: Readers | undefined;

  return {
    endpoint,
    takesHead: endpoint.method === "GET" && main.content.kind !== "events",
    async answer(exchange) {
      readers ??= createReaders(endpoint, fixedParams);
      const problems: Problem[] = [];
      const ignored = (exchange.unknownFields ?? options.unknownFields) === "refuse" ? undefined : new IgnoredFields();
      const checked = readers.params === undefined ? nothing : check("params", readers.params, exchange.params, problems);
      const params = exchange.fixedParams === undefined ? checked : { ...exchange.fixedParams, ...checked };
      const query =
        readers.query === undefined || readers.readQuery === undefined
          ? nothing
          : checkQuery(readers.query, readers.readQuery(exchange.queryString), problems, ignored);
      reportIgnored(exchange, ignored);
      const { request } = exchange;
      const { body: declared } = endpoint;
      if (declared === undefined || declared.kind === "json") {
        const limitBytes = declared?.limitBytes ?? bodyLimitBytes;
        const place = limitBytes > bodyLimitBytes ? largeBodies.place() : undefined;
        try {
          const body =
            declared === undefined || readers.body === undefined
              ? undefined
              : checkBody(readers.body, await readJson(request, { optional: declared.optional, limitBytes, place }), problems, ignored);
          reportIgnored(exchange, ignored);
          if (problems.length > 0) throw invalidRequest(problems);
          return await toReply(await handler(callOf(exchange, params, query, body)), query, exchange);
        } finally {
          place?.leave();
        }
      }
      if (problems.length > 0) throw invalidRequest(problems);
      const stream =
        declared.kind === "multipart" ? new MultipartParts(request, bodyLimitBytes, partFilter(declared.schema, ignored)) : bodyStream(request);
      let reply: Reply | undefined;
      try {
        reply = await toReply(await handler(callOf(exchange, params, query, stream)), query, exchange);
        return reply;
      } finally {
        reportIgnored(exchange, ignored);
        // A streamed answer may still be made from the body.
        if (reply === undefined || reply.kind === "text") discard(stream);
        else
          exchange.response.on("close", () => {
            discard(stream);
          });
      }
    },
  };

  async function toReply(result: unknown, query: Readonly<Record<string, unknown>>, exchange: Exchange<Context>): Promise<Reply> {
    if (!isStatusReply(result)) return replyOf((result === undefined ? bodiless : undefined) ?? mainAnswer, result, query, exchange);
    const { retryAfterSeconds, value } = result;
    const chosen = answers.find(({ status }) => status === result.status);
    if (chosen === undefined) throw new TypeError(`${endpoint.operationId} declares no status ${String(result.status)}.`);
    const reply = await replyOf(chosen, value, query, exchange);
    return retryAfterSeconds === undefined
      ? reply
      : { ...reply, headers: { ...reply.headers, "retry-after": String(Math.max(0, Math.ceil(retryAfterSeconds))) } };
  }

  async function replyOf(
    { content, status }: Answer,
    result: unknown,
    query: Readonly<Record<string, unknown>>,
    { request, response }: Exchange<Context>,
  ): Promise<Reply> {
    // The types of `Handler` hold the result to the declared content.
    switch (content.kind) {
      case "json":
        return { kind: "text", status, headers: jsonHeaders, text: textOf(result) };
      case "page": {
        const { hasMore, items, nextOffset } = result as Page<unknown>;
        return { kind: "text", status, headers: pageHeaders(query, hasMore, nextOffset), text: textOf(items) };
      }
      case "tokenPage": {
        const { items, nextPageToken } = result as TokenPage<unknown>;
        return { kind: "text", status, headers: tokenPageHeaders(query, nextPageToken), text: textOf(items) };
      }
      case "empty":
        return { kind: "text", status, headers: {}, text: undefined };
      case "bytes": {
        const bytes = result as BytesReply;
        const headers = bytesHeaders(content, bytes);
        await whenReadable(bytes.stream, response);
        return { kind: "bytes", status, headers, bytes };
      }
      case "events":
        return {
          kind: "events",
          status,
          headers: eventHeaders,
          events: result as AsyncIterable<StreamFrame<unknown>>,
          gaps: asksForGaps(request),
          heartbeatMs,
        };
    }
  }
}

function createReaders(endpoint: Endpoint, fixedParams: readonly string[]): Readers {
  return {
    params: endpoint.params && strict(withoutKeys(endpoint.params, fixedParams)),
    query: endpoint.query && strict(endpoint.query),
    readQuery: endpoint.query && createQueryReader(endpoint.query),
    body: endpoint.body?.kind === "json" ? strict(endpoint.body.schema) : undefined,
  };
}

function bodyStream(request: IncomingMessage): GuardedStream {
  refuseEncoding(request);
  return new GuardedStream(request, () => new ClientGone());
}

/** Without `ignored`, handlers see every part and refuse those that they do not know. */
function partFilter(schema: z.core.$ZodType, ignored: IgnoredFields | undefined): ((name: string) => boolean) | undefined {
  if (ignored === undefined) return undefined;
  return (name) => {
    const unknown = unknownPart(schema, name);
    if (unknown === undefined) return true;
    ignored.add({ root: "body", path: unknown.path, keys: [unknown.key], known: unknown.known });
    return false;
  };
}

function discard(body: GuardedStream | MultipartParts): void {
  if (body instanceof GuardedStream) body.destroy();
  else body.cancel();
}

function withoutKeys(schema: z.core.$ZodType, keys: readonly string[]): z.core.$ZodType {
  if (keys.length === 0) return schema;
  const { def } = (unwrap(schema).schema as z.core.$ZodTypes)._zod;
  if (def.type !== "object") throw new TypeError("The params of an endpoint must be an object schema.");
  return z.object(Object.fromEntries(Object.entries(def.shape).filter(([key]) => !keys.includes(key))));
}

function check(root: string, schema: z.core.$ZodType, value: unknown, problems: Problem[]): Readonly<Record<string, unknown>> {
  const result = z.safeParse(schema, value, parseOptions);
  if (!result.success) {
    // A hostile body has hundreds of thousands.
    problems.push(...problemsOf(root, result.error.issues.slice(0, maxProblems)));
    return nothing;
  }
  return result.data as Record<string, unknown>;
}

function checkQuery(
  schema: z.core.$ZodType,
  { known, problems: found, unknown, value }: ReturnType<QueryReader>,
  problems: Problem[],
  ignored: IgnoredFields | undefined,
): Readonly<Record<string, unknown>> {
  problems.push(...found);
  if (unknown.length > 0) {
    if (ignored === undefined) problems.push(...unknown.slice(0, maxProblems).map((key) => unknownParameter(key, known)));
    else ignored.add({ root: "query", path: [], keys: unknown, known });
  }
  return check("query", schema, value, problems);
}

function checkBody(schema: z.core.$ZodType, value: unknown, problems: Problem[], ignored: IgnoredFields | undefined): unknown {
  if (ignored === undefined) return check("body", schema, value, problems);
  const result = z.safeParse(schema, value, parseOptions);
  if (result.success) return result.data;
  removeUnknownKeys(schema, value, (removed) => {
    ignored.add({ root: "body", ...removed });
  });
  return check("body", schema, value, problems);
}

function reportIgnored(exchange: Pick<Exchange<unknown>, "onIgnored">, ignored: IgnoredFields | undefined): void {
  const fields = ignored?.toHeader();
  if (fields !== undefined) exchange.onIgnored(fields);
}

const parseOptions: z.core.ParseContext<z.core.$ZodIssue> = { error: issueMessage };

const responseOf = Symbol("response");

/**
 * `signal` as an own property that is made when it is first looked at. Most handlers never do, and a controller with its listener would cost
 * each of them more than the checks. One getter for all calls: a getter in an object literal is a new function, and with it a new hidden class, a request.
 */
const lazySignal: PropertyDescriptor & ThisType<{ readonly [responseOf]: ServerResponse }> = {
  configurable: true,
  enumerable: true,
  get() {
    const value = signalOf(this[responseOf]);
    Object.defineProperty(this, "signal", { configurable: true, enumerable: true, value });
    return value;
  },
};

function callOf<Context>(
  exchange: Exchange<Context>,
  params: Readonly<Record<string, unknown>>,
  query: Readonly<Record<string, unknown>>,
  body: unknown,
): AnyCall<Context> {
  const { context, request, requestId, response } = exchange;
  const { headers } = request;
  const lastEventId = headers["last-event-id"];
  const call = {
    params,
    query,
    body,
    headers,
    requestId,
    context,
    lastEventId: typeof lastEventId === "string" && lastEventId !== "" ? lastEventId : undefined,
    [responseOf]: response,
  };
  // `defineProperty` does not tell the compiler what it added.
  return Object.defineProperty(call, "signal", lazySignal) as typeof call & { readonly signal: AbortSignal };
}

function signalOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (response.destroyed && !response.writableFinished) controller.abort(new ClientGone());
  else {
    response.on("close", () => {
      if (!response.writableFinished) controller.abort(new ClientGone());
    });
  }
  return controller.signal;
}

function textOf(value: unknown): string | Buffer {
  const text = serializedBytes(value) ?? (JSON.stringify(value) as string | undefined);
  if (text === undefined) throw new TypeError("A handler returned nothing where the contract declares JSON.");
  return text;
}

function pageHeaders(
  query: { readonly limit?: unknown; readonly offset?: unknown },
  hasMore: boolean,
  nextOffset: number | undefined,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ...jsonHeaders, "x-has-more": hasMore ? "true" : "false" };
  if (typeof query.limit === "number") headers["x-limit"] = String(query.limit);
  if (typeof query.offset === "number") headers["x-offset"] = String(query.offset);
  if (nextOffset !== undefined) headers["x-next-offset"] = String(nextOffset);
  return headers;
}

function tokenPageHeaders(query: { readonly limit?: unknown }, nextPageToken: string | undefined): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ...jsonHeaders, "x-has-more": nextPageToken === undefined ? "false" : "true" };
  if (typeof query.limit === "number") headers["x-limit"] = String(query.limit);
  if (nextPageToken !== undefined) headers["x-next-page-token"] = nextPageToken;
  return headers;
}

/** @throws {TypeError} for a header that the endpoint does not declare. */
function bytesHeaders(
  { contentType, headers: declared = [] }: BytesContent,
  { fileName, headers: further = {}, sizeBytes, stream }: BytesReply,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { "content-type": contentType };
  if (sizeBytes !== undefined) headers["content-length"] = String(sizeBytes);
  if (fileName !== undefined) headers["content-disposition"] = contentDisposition(fileName);
  for (const [name, value] of Object.entries(further)) {
    if (!declared.some((known) => known.toLowerCase() === name)) {
      stream.destroy();
      throw new TypeError(`A handler gave the header ${name}, which its endpoint does not declare.`);
    }
    headers[name] = value;
  }
  return headers;
}

function asksForGaps(request: IncomingMessage): boolean {
  const asked = request.headers["x-shoal-stream"];
  return typeof asked === "string" && asked.split(",").some((word) => word.trim() === "gaps");
}
