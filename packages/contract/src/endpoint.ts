import type { Schema } from "@shoal/schemas";
import type * as z from "zod/mini";

/** HTTP methods of operations. A HEAD is answered wherever a GET is. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Who answers an operation: the service itself, or the instance beside the browser, to which the service forwards. */
export type Plane = "control" | "instance";

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a schema of unknown output must accept schemas of every input
type AnySchema = Schema<any, any>;

/** JSON, one value. */
export interface JsonContent<S extends AnySchema = AnySchema> {
  readonly kind: "json";
  readonly schema: S;
}
/** Bytes as they are, streamed. */
export interface BytesContent {
  readonly kind: "bytes";
  readonly contentType: string;
  /** Headers that an answer carries beside the usual ones. */
  readonly headers?: readonly string[];
}
/** Nothing. With status 202: not there yet, to be asked for again after `Retry-After`. */
export interface EmptyContent {
  readonly kind: "empty";
}
/** A JSON request body. */
export interface JsonBody<S extends AnySchema = AnySchema> extends JsonContent<S> {
  /** Whether the body may be absent; it then counts as `{}`. */
  readonly optional: boolean;
  /** The most bytes that it may have, where that is not what all others may. */
  readonly limitBytes?: number;
}
/** What may be said of a JSON body beside its schema. */
export type JsonBodyOptions = Pick<JsonBody, "limitBytes">;
/** A multipart/form-data request body, streamed part by part. The schema says which parts there are. */
export interface MultipartBody<S extends AnySchema = AnySchema> {
  readonly kind: "multipart";
  readonly schema: S;
}
/** A JSON array, one page of a list; its place in the list stands in the headers `X-Limit`, `X-Offset`, `X-Has-More` and `X-Next-Offset`. */
export interface PageContent<S extends AnySchema = AnySchema> {
  readonly kind: "page";
  /** Schema of one item. */
  readonly item: S;
}
/** A JSON array, one page of a list that is paged by tokens: `page_token` of the query takes what `X-Next-Page-Token` gave; `X-Limit` and `X-Has-More` stand beside it. */
export interface TokenPageContent<S extends AnySchema = AnySchema> {
  readonly kind: "tokenPage";
  /** Schema of one item. */
  readonly item: S;
}
/** Server-sent events; the `data` of each is one JSON value. */
export interface EventStreamContent<S extends AnySchema = AnySchema> {
  readonly kind: "events";
  /** Schema of one event. */
  readonly event: S;
}

/** What a request may carry. */
export type RequestBody = JsonBody | BytesContent | MultipartBody;
/** What an answer may carry, by status. */
export type ResponseContent = JsonContent | PageContent | TokenPageContent | EventStreamContent | BytesContent | EmptyContent;

type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | PathParams<Rest> : never;

/** One operation of a contract, as data. Client, server, command line and OpenAPI are readers of it. */
export interface Endpoint<Path extends string = string> {
  /** Dotted name: `browsers.fs.watch.start` is `client.browsers.fs.watch.start`, `shoal browsers fs watch start` and the OpenAPI operationId. */
  readonly operationId: string;
  /** The area that it belongs to, an OpenAPI tag: `Browser Filesystem`. */
  readonly area: string;
  readonly plane: Plane;
  readonly method: Method;
  /** With placeholders, `/browsers/{id}/fs/watch`. */
  readonly path: Path;
  /** One line, what it does. */
  readonly summary: string;
  /** An object schema whose keys are the path's placeholders. */
  readonly params?: AnySchema;
  /** An object schema of the query. */
  readonly query?: AnySchema;
  readonly body?: RequestBody;
  /** What success looks like, by status; the lowest one first in every reader. Beside a content there may be other statuses with JSON, or with nothing: `{ 200: bytes("video/mp4"), 202: empty }`. */
  readonly responses: Readonly<Record<number, ResponseContent>>;
  /** Statuses that carry an error body. */
  readonly errors: readonly number[];
  /** Of those, the ones whose body says more than the common one, by status. Their schemas hold the common fields too. */
  readonly errorBodies?: Readonly<Record<number, AnySchema>>;
  /** `none` for the few operations that need no key. */
  readonly auth?: "key" | "none";
  /** There is a better way now, which the description names; kept for programs that were written for this one. */
  readonly deprecated?: boolean;
}

/** Declares an operation. Returns its argument. `params` must name exactly the placeholders of `path`. */
// @__NO_SIDE_EFFECTS__
export function defineEndpoint<const Path extends string, const E extends Endpoint<Path>>(
  endpoint: E & { readonly path: Path } & ([PathParams<Path>] extends [never]
      ? { readonly params?: never }
      : { readonly params: Schema<Record<PathParams<Path>, string>, Record<PathParams<Path>, string>> }),
): E {
  return endpoint;
}

/** A JSON body or answer. @param options - `limitBytes`: for a body that may be larger than others, see {@link JsonBody}. */
// @__NO_SIDE_EFFECTS__
export function json<S extends AnySchema>(schema: S, options: JsonBodyOptions = {}): JsonBody<S> {
  return { kind: "json", schema, optional: false, ...options };
}
/** A JSON body that may be absent. @param options - as of {@link json}. */
// @__NO_SIDE_EFFECTS__
export function optionalJson<S extends AnySchema>(schema: S, options: JsonBodyOptions = {}): JsonBody<S> {
  return { kind: "json", schema, optional: true, ...options };
}
/** A multipart/form-data body. */
// @__NO_SIDE_EFFECTS__
export function multipart<S extends AnySchema>(schema: S): MultipartBody<S> {
  return { kind: "multipart", schema };
}
/** A streamed body or answer of bytes. @param options - `headers`: those that the answer carries beside the usual ones, `X-Row-Count` for instance. */
// @__NO_SIDE_EFFECTS__
export function bytes(contentType: string, options: { readonly headers?: readonly string[] } = {}): BytesContent {
  return { kind: "bytes", contentType, ...options };
}
/** One page of a list. */
// @__NO_SIDE_EFFECTS__
export function page<S extends AnySchema>(item: S): PageContent<S> {
  return { kind: "page", item };
}
/** One page of a list that is paged by tokens. */
// @__NO_SIDE_EFFECTS__
export function tokenPage<S extends AnySchema>(item: S): TokenPageContent<S> {
  return { kind: "tokenPage", item };
}
/** Server-sent events. */
// @__NO_SIDE_EFFECTS__
export function eventStream<S extends AnySchema>(event: S): EventStreamContent<S> {
  return { kind: "events", event };
}
/** An answer without a body. */
export const empty: EmptyContent = { kind: "empty" };

/** One page of a list. */
export interface Page<Item> {
  readonly items: Item[];
  /** Whether a further page exists. */
  readonly hasMore: boolean;
  /** The `offset` that fetches it; `undefined` on the last page. */
  readonly nextOffset: number | undefined;
}

/** One page of a list that is paged by tokens. */
export interface TokenPage<Item> {
  readonly items: Item[];
  /** The `page_token` that fetches the next page; `undefined` on the last one. */
  readonly nextPageToken: string | undefined;
}

type InputOf<S> = S extends AnySchema ? z.input<S> : never;
type OutputOf<S> = S extends AnySchema ? z.output<S> : never;
type SuccessOf<E extends Endpoint> = E["responses"][keyof E["responses"]];

/** Bytes that a client can send. Streams are sent once, so a call with one is not retried. */
export type BytesInput = Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | string;

/** The fields of a schema that are all optional make the whole optional. */
type Field<Name extends string, Value> = object extends Value ? Partial<Record<Name, Value>> : Record<Name, Value>;

/** What a caller gives: `params`, `query` and `body`, where the endpoint has them. */
export type RequestOf<E extends Endpoint> = (E extends { readonly params: AnySchema } ? { readonly params: InputOf<E["params"]> } : unknown) &
  (E extends { readonly query: AnySchema } ? Readonly<Field<"query", InputOf<E["query"]>>> : unknown) &
  (E extends { readonly body: JsonBody<infer S> }
    ? Readonly<Field<"body", InputOf<S>>>
    : E extends { readonly body: MultipartBody<infer S> }
      ? { readonly body: MultipartInput<InputOf<S>> }
      : E extends { readonly body: BytesContent }
        ? { readonly body: BytesInput }
        : unknown);

/** A multipart body as a caller gives it: where the schema has a file, any bytes will do. */
export type MultipartInput<T> = T extends File
  ? BytesInput
  : T extends readonly (infer Item)[]
    ? readonly MultipartInput<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: MultipartInput<T[K]> }
      : T;

/** What one content gives a caller. */
type ResultOfContent<Content> =
  Content extends JsonContent<infer S>
    ? OutputOf<S>
    : Content extends PageContent<infer S>
      ? Page<OutputOf<S>>
      : Content extends TokenPageContent<infer S>
        ? TokenPage<OutputOf<S>>
        : Content extends EmptyContent
          ? undefined
          : never;

/** What a caller gets from `call`, whichever status it comes with; an event stream or bytes come from `stream` and `download`. */
export type ResultOf<E extends Endpoint> = ResultOfContent<SuccessOf<E>>;

/** One event of an endpoint that answers with a stream of them. */
export type EventOf<E extends Endpoint> = SuccessOf<E> extends EventStreamContent<infer S> ? OutputOf<S> : never;

/** What a handler receives: checked values with their defaults filled in. */
export interface CheckedRequestOf<E extends Endpoint> {
  readonly params: E extends { readonly params: AnySchema } ? OutputOf<E["params"]> : object;
  readonly query: E extends { readonly query: AnySchema } ? OutputOf<E["query"]> : object;
  readonly body: E extends { readonly body: JsonBody<infer S> } ? OutputOf<S> : undefined;
}

/** Item type of an endpoint that answers with pages. */
export type ItemOf<E extends Endpoint> = SuccessOf<E> extends PageContent<infer S> | TokenPageContent<infer S> ? OutputOf<S> : never;

/** The body of an error with this status, where it says more than the common one. */
export type ErrorBodyOf<E extends Endpoint, Status extends number> = E extends { readonly errorBodies: Readonly<Record<Status, infer S>> }
  ? OutputOf<S>
  : never;

/** Operations by name. */
export type Contract = Readonly<Record<string, Endpoint>>;
