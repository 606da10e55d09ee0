import type { Schema } from "@shoal/schemas";
import type { Move } from "../rights/data-rights.ts";
import type { ObjectAction } from "../rights/policy-actions.ts";
import type * as z from "zod/mini";

/** HTTP methods of operations. HEAD works for every GET. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Where an operation runs: in the service, or in the session's instance, to which the service forwards. */
export type Plane = "control" | "instance";

// oxlint-disable-next-line typescript/no-explicit-any -- a schema of unknown output must accept schemas of every input
type AnySchema = Schema<any, any>;

/** One JSON value. */
export interface JsonContent<S extends AnySchema = AnySchema> {
  readonly kind: "json";
  readonly schema: S;
  /** Types of bytes that a response may have instead, if the client accepts them: `["image/*"]`. */
  readonly alsoTypes?: readonly string[];
}
/** A stream of bytes. */
export interface BytesContent {
  readonly kind: "bytes";
  readonly contentType: string;
  /** Additional headers of the response. */
  readonly headers?: readonly string[];
}
/** An empty body. With status 202: not ready; try again after `Retry-After`. */
export interface EmptyContent {
  readonly kind: "empty";
}
/** A JSON request body. */
export interface JsonBody<S extends AnySchema = AnySchema> extends JsonContent<S> {
  /** An absent body counts as `{}`. */
  readonly optional: boolean;
  /** Maximum size in bytes, if it differs from the service's default. */
  readonly limitBytes?: number;
}
/** Options of {@link json}. */
export type JsonBodyOptions = Pick<JsonBody, "alsoTypes" | "limitBytes">;
/** A multipart/form-data request body, streamed part by part. */
export interface MultipartBody<S extends AnySchema = AnySchema> {
  readonly kind: "multipart";
  readonly schema: S;
}
/** One page of a list, as a JSON array; its position is in the headers `X-Limit`, `X-Offset`, `X-Has-More` and `X-Next-Offset`. */
export interface PageContent<S extends AnySchema = AnySchema> {
  readonly kind: "page";
  readonly item: S;
}
/** One page of a list with tokens, as a JSON array; `X-Next-Page-Token` is the `page_token` of the next page. Also sends `X-Limit` and `X-Has-More`. */
export interface TokenPageContent<S extends AnySchema = AnySchema> {
  readonly kind: "tokenPage";
  readonly item: S;
}
/** Server-sent events; the `data` of each event is one JSON value. */
export interface EventStreamContent<S extends AnySchema = AnySchema> {
  readonly kind: "events";
  readonly event: S;
}

/** A request body. */
export type RequestBody = JsonBody | BytesContent | MultipartBody;
/** A response body. */
export type ResponseContent =
  JsonContent | PageContent | TokenPageContent | EventStreamContent | BytesContent | EmptyContent;

type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParams<Rest>
  : never;

/**
 * The result of a POST that repeats an `Idempotency-Key`: `answer`, the first response; `transaction`, the same, and
 * the service commits all effects with the response; `repeats`, the work is repeated for the given reason.
 */
export type Idempotency = "answer" | "transaction" | { readonly repeats: string };

/** What an operation inside a session is, for the instance that answers it and for its callers. */
export interface SessionPolicy {
  /**
   * While a person has the session: it `continues`; or it `waits`, and a running one is not ended; or it `stops`, also a
   * running one.
   */
  readonly handoff: "continues" | "waits" | "stops";
  /** Whether sessions that share a browser have it, or what it would give them of the other sessions. */
  readonly shared: true | "extensions" | "log" | "programs" | "screen" | "scripts" | "targets";
  /** Does not keep the session running: `always`, or when `asked` with the header `x-shoal-passive: 1`. */
  readonly passive?: "always" | "asked";
  /** Manages the session instead of its browser: telemetry has it in the category `platform`. */
  readonly manages?: true;
  /** Carries many bytes: clients that know the way call the instance without the service. */
  readonly direct?: true;
}

/** One operation of a contract, as data for the client, the server, the command line and OpenAPI. */
export interface Endpoint<Path extends string = string> {
  /** Dotted name: `browsers.fs.watch.start` is `client.browsers.fs.watch.start`, `shoal browsers fs watch start` and the OpenAPI operationId. */
  readonly operationId: string;
  /** OpenAPI tag: `Browser Filesystem`. */
  readonly area: string;
  readonly plane: Plane;
  readonly method: Method;
  /** Path with placeholders: `/browsers/{id}/fs/watch`. */
  readonly path: Path;
  /** One line. */
  readonly summary: string;
  /** An object schema with the path's placeholders as keys. */
  readonly params?: AnySchema;
  /** An object schema. */
  readonly query?: AnySchema;
  readonly body?: RequestBody;
  /** Successful responses by status, lowest first. Further statuses may have JSON or an empty body: `{ 200: bytes("video/mp4"), 202: empty }`. */
  readonly responses: Readonly<Record<number, ResponseContent>>;
  /** Statuses with an error body. */
  readonly errors: readonly number[];
  /** Error bodies with more fields than the common one, by status. Their schemas include the common fields. */
  readonly errorBodies?: Readonly<Record<number, AnySchema>>;
  /** For POST only. Default `answer`. */
  readonly idempotency?: Idempotency;
  /**
   * The data that it reads for its caller, and that its caller changes, for example `["read files"]`. The rights of
   * persons and apps follow from it. Operations of the contract with authentication must have it.
   */
  readonly moves?: readonly Move[];
  /**
   * The actions that the policy of an API key must allow. They are about the object in the path, or about the profile of
   * its session; `create` is about the project. `[]`: every key may call it. Absent: a key needs a role, or the name of
   * the operation.
   */
  readonly scope?: readonly ObjectAction[];
  /** Policy of an operation inside a session. Operations of the contract with `plane: "instance"` must have it. */
  readonly inSession?: SessionPolicy;
  /** For a GET that returns secrets or a lot of user activity: the audit log has it, as every other method. */
  readonly audited?: true;
  /** About the existence of sessions alone: works in archived projects, and for the browsers of logins. */
  readonly aboutExistence?: true;
  /** The answer has sessions, from which a client learns the direct ways to their instances. */
  readonly returnsSessions?: true;
  /** The MCP tool that calls it, named in errors for models. */
  readonly tool?: string;
  /** `none` for operations without authentication. */
  readonly auth?: "key" | "none";
  /**
   * For sign-in pages, which have no key: `issues` a token for one login, or `accepts` it instead of a key. Pages of any
   * origin may call these operations.
   */
  readonly handoff?: "issues" | "accepts";
  /** The description names the replacement. */
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

/** A JSON body or response. @param options - `limitBytes`, `alsoTypes`: see {@link JsonBody}. */
// @__NO_SIDE_EFFECTS__
export function json<S extends AnySchema>(schema: S, options: JsonBodyOptions = {}): JsonBody<S> {
  return { kind: "json", schema, optional: false, ...options };
}
/** A JSON body that may be absent. @param options - see {@link json}. */
// @__NO_SIDE_EFFECTS__
export function optionalJson<S extends AnySchema>(schema: S, options: JsonBodyOptions = {}): JsonBody<S> {
  return { kind: "json", schema, optional: true, ...options };
}
/** A multipart/form-data body. */
// @__NO_SIDE_EFFECTS__
export function multipart<S extends AnySchema>(schema: S): MultipartBody<S> {
  return { kind: "multipart", schema };
}
/** A streamed body or response of bytes. @param options - `headers`: additional headers of the response, for example `X-Row-Count`. */
// @__NO_SIDE_EFFECTS__
export function bytes(contentType: string, options: { readonly headers?: readonly string[] } = {}): BytesContent {
  return { kind: "bytes", contentType, ...options };
}
/** One page of a list. */
// @__NO_SIDE_EFFECTS__
export function page<S extends AnySchema>(item: S): PageContent<S> {
  return { kind: "page", item };
}
/** One page of a list with tokens. */
// @__NO_SIDE_EFFECTS__
export function tokenPage<S extends AnySchema>(item: S): TokenPageContent<S> {
  return { kind: "tokenPage", item };
}
/** Server-sent events. */
// @__NO_SIDE_EFFECTS__
export function eventStream<S extends AnySchema>(event: S): EventStreamContent<S> {
  return { kind: "events", event };
}
/** A response without a body. */
export const empty: EmptyContent = { kind: "empty" };

/** One page of a list. */
export interface Page<Item> {
  readonly items: Item[];
  readonly hasMore: boolean;
  /** The `offset` of the next page; `undefined` on the last page. */
  readonly nextOffset: number | undefined;
}

/** One page of a list with tokens. */
export interface TokenPage<Item> {
  readonly items: Item[];
  /** The `page_token` of the next page; `undefined` on the last page. */
  readonly nextPageToken: string | undefined;
}

type InputOf<S> = S extends AnySchema ? z.input<S> : never;
type OutputOf<S> = S extends AnySchema ? z.output<S> : never;
type SuccessOf<E extends Endpoint> = E["responses"][keyof E["responses"]];

/** Bytes to send. A stream can be sent only once, so its call is not retried. */
export type BytesInput = Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | string;

/** A required property if `Value` has required fields, otherwise an optional one. */
type Field<Name extends string, Value> = object extends Value ? Partial<Record<Name, Value>> : Record<Name, Value>;

/** Input of a call: `params`, `query` and `body`. */
export type RequestOf<E extends Endpoint> = (E extends { readonly params: AnySchema }
  ? { readonly params: InputOf<E["params"]> }
  : unknown) &
  (E extends { readonly query: AnySchema } ? Readonly<Field<"query", InputOf<E["query"]>>> : unknown) &
  (E extends { readonly body: JsonBody<infer S> }
    ? Readonly<Field<"body", InputOf<S>>>
    : E extends { readonly body: MultipartBody<infer S> }
      ? { readonly body: MultipartInput<InputOf<S>> }
      : E extends { readonly body: BytesContent }
        ? { readonly body: BytesInput }
        : unknown);

/** Input of a multipart body: accepts any bytes for files. */
export type MultipartInput<T> = T extends File
  ? BytesInput
  : T extends readonly (infer Item)[]
    ? readonly MultipartInput<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: MultipartInput<T[K]> }
      : T;

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

/** The result of `call` for any success status; `stream` and `download` return events and bytes. */
export type ResultOf<E extends Endpoint> = ResultOfContent<SuccessOf<E>>;

/** One event of an event stream. */
export type EventOf<E extends Endpoint> = SuccessOf<E> extends EventStreamContent<infer S> ? OutputOf<S> : never;

/** The request that a handler receives: validated, with defaults. */
export interface CheckedRequestOf<E extends Endpoint> {
  readonly params: E extends { readonly params: AnySchema } ? OutputOf<E["params"]> : object;
  readonly query: E extends { readonly query: AnySchema } ? OutputOf<E["query"]> : object;
  readonly body: E extends { readonly body: JsonBody<infer S> } ? OutputOf<S> : undefined;
}

/** The item type of a paged list. */
export type ItemOf<E extends Endpoint> =
  SuccessOf<E> extends PageContent<infer S> | TokenPageContent<infer S> ? OutputOf<S> : never;

/** The body of an error with this status, if it differs from the common one. */
export type ErrorBodyOf<E extends Endpoint, Status extends number> = E extends {
  readonly errorBodies: Readonly<Record<Status, infer S>>;
}
  ? OutputOf<S>
  : never;

/** Operations by name. */
export type Contract = Readonly<Record<string, Endpoint>>;
