import type {
  BytesContent,
  CheckedRequestOf,
  Contract,
  EmptyContent,
  Endpoint,
  EventStreamContent,
  JsonContent,
  MultipartBody,
  Page,
  PageContent,
  TokenPage,
  TokenPageContent,
} from "@shoal/contract";
import type * as z from "zod/mini";
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { StatusReply } from "./status-reply.ts";

/** One part of a multipart body, in the order in which it arrives. A file's stream must be read, or destroyed, before the next part comes. */
export type MultipartPart =
  | { readonly kind: "field"; readonly name: string; readonly value: string }
  | { readonly kind: "file"; readonly name: string; readonly filename: string; readonly contentType: string; readonly stream: Readable };

/** What a handler receives. `Context` is whatever the program's `context` function made of the request, an authenticated key for instance. */
export interface HandlerCall<E extends Endpoint, Context = undefined> extends Omit<CheckedRequestOf<E>, "body"> {
  /** JSON: the checked value. Bytes: the stream. Multipart: its parts, as they arrive. */
  readonly body: E extends { readonly body: BytesContent }
    ? Readable
    : E extends { readonly body: MultipartBody }
      ? AsyncIterable<MultipartPart>
      : CheckedRequestOf<E>["body"];
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  /** Aborted when the client goes away before the answer is complete. Made when it is first looked at. */
  readonly signal: AbortSignal;
  /** The `Last-Event-ID` of a reader that resumes a stream. */
  readonly lastEventId: string | undefined;
  readonly context: Context;
}

/** An answer of bytes. The stream is destroyed when the client goes away. */
export interface BytesReply {
  readonly stream: Readable;
  /** Sent as `Content-Length` where it is known. */
  readonly sizeBytes?: number;
  /** Sent in `Content-Disposition: attachment`. */
  readonly fileName?: string;
  /** Those that the endpoint declares, by name in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** One frame of an event stream. */
export type StreamFrame<T> =
  | { readonly id: string; readonly data: T }
  /** Events that this reader can no longer get. Sent, as `event: gap`, only to clients that ask with `X-Shoal-Stream: gaps`; ids show the gap to all. */
  | { readonly id: string; readonly gap: { readonly missed: number } };

/** What a handler returns for one content. */
type ContentResult<Content> =
  Content extends JsonContent<infer S>
    ? z.output<S>
    : Content extends PageContent<infer S>
      ? Page<z.output<S>>
      : Content extends TokenPageContent<infer S>
        ? TokenPage<z.output<S>>
        : Content extends EventStreamContent<infer S>
          ? AsyncIterable<StreamFrame<z.output<S>>>
          : Content extends BytesContent
            ? BytesReply
            : Content extends EmptyContent
              ? undefined | void
              : never;

type Statuses<E extends Endpoint> = keyof E["responses"] & number;
/** Where there is one status, there is nothing to choose. */
type IsOne<Union, Member = Union> = Member extends unknown ? ([Union] extends [Member] ? true : false) : never;
type StatusResult<E extends Endpoint> =
  IsOne<Statuses<E>> extends true
    ? never
    : { readonly [Status in Statuses<E>]: StatusReply<Status, ContentResult<E["responses"][Status]>> }[Statuses<E>];

/**
 * What a handler returns: the value of the first status that has a body, or nothing for the first without one; of several statuses
 * `withStatus` chooses. A stream's iterator is returned (its `return` is called) when the client goes away.
 */
export type HandlerResult<E extends Endpoint> = ContentResult<E["responses"][Statuses<E>]> | StatusResult<E>;

/** Answers one operation. What it throws is an error answer: a {@link ServiceError} as it says, anything else a 500 without its message. */
export type Handler<E extends Endpoint, Context = undefined> = (call: HandlerCall<E, Context>) => HandlerResult<E> | Promise<HandlerResult<E>>;

/** A handler for every operation of a contract: `satisfies Handlers<typeof contract>` makes a forgotten one a compile error. */
export type Handlers<C extends Contract, Context = undefined> = { readonly [Name in keyof C]: Handler<C[Name], Context> };

/**
 * The same for a contract that is not served whole: every operation has a handler or stands in `NotYet`, the names of those that answer 501.
 * A forgotten one and one that is both are compile errors.
 */
export type HandlersOrNotYet<C extends Contract, NotYet extends keyof C, Context = undefined> = {
  readonly [Name in Exclude<keyof C, NotYet>]: Handler<C[Name], Context>;
} & Readonly<Partial<Record<NotYet, never>>>;
