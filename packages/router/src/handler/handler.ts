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

/** One part of a multipart body, in order. Read or destroy a file's stream before the next part. */
export type MultipartPart =
  | { readonly kind: "field"; readonly name: string; readonly value: string }
  | {
      readonly kind: "file";
      readonly name: string;
      readonly filename: string;
      readonly contentType: string;
      readonly stream: Readable;
    };

/** `Context` is the return type of the program's `context` function, for instance an authenticated key. */
export interface HandlerCall<E extends Endpoint, Context = undefined> extends Omit<CheckedRequestOf<E>, "body"> {
  /** JSON: the checked value. Bytes: the stream. Multipart: the parts, as they arrive. */
  readonly body: E extends { readonly body: BytesContent }
    ? Readable
    : E extends { readonly body: MultipartBody }
      ? AsyncIterable<MultipartPart>
      : CheckedRequestOf<E>["body"];
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  /** Aborted when the client disconnects before the answer is complete. Created on first access. */
  readonly signal: AbortSignal;
  /** The `Last-Event-ID` of a reader that resumes a stream. */
  readonly lastEventId: string | undefined;
  readonly context: Context;
}

/** An answer of bytes. The stream is destroyed when the client disconnects. */
export interface BytesReply {
  readonly stream: Readable;
  /** Sent as `Content-Length`. */
  readonly sizeBytes?: number;
  /** Sent in `Content-Disposition: attachment`. */
  readonly fileName?: string;
  /** For an endpoint that declares a range, such as `image/*`: the type of this answer. */
  readonly contentType?: string;
  /** Headers that the endpoint declares, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Returns trailers to send after the last byte. Only for answers without `sizeBytes`. */
  readonly trailers?: () => Readonly<Record<string, string>>;
}

/** One frame of an event stream. */
export type StreamFrame<T> =
  /** `event`: written as the name of the event, for clients that ignore frames without one. */
  | { readonly id: string; readonly event?: string; readonly data: T }
  /** Events that this reader missed. Sent only to clients with `X-Shoal-Stream: gaps`; others see a jump in the ids. */
  | { readonly id: string; readonly gap: { readonly missed: number } }
  /** Moves the position of the reader over events that it did not request. */
  | { readonly id: string; readonly skipped: true }
  /** The reader has all stored events; the next one is new. Sent only to clients with `X-Shoal-Stream: caught_up`. */
  | { readonly id: string; readonly caughtUp: true };

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
/** True for a union with one member. */
type IsOne<Union, Member = Union> = Member extends unknown ? ([Union] extends [Member] ? true : false) : never;
type StatusResult<E extends Endpoint> =
  IsOne<Statuses<E>> extends true
    ? never
    : { readonly [Status in Statuses<E>]: StatusReply<Status, ContentResult<E["responses"][Status]>> }[Statuses<E>];

/**
 * The value of the first status with a body, or nothing for the first without one; `withStatus` selects another status.
 * When the client disconnects, `return` of a stream's iterator is called.
 */
export type HandlerResult<E extends Endpoint> = ContentResult<E["responses"][Statuses<E>]> | StatusResult<E>;

/** Answers one operation. A thrown error other than {@link ServiceError} becomes a 500 without its message. */
export type Handler<E extends Endpoint, Context = undefined> = (
  call: HandlerCall<E, Context>,
) => HandlerResult<E> | Promise<HandlerResult<E>>;

/** A handler for every operation of a contract: `satisfies Handlers<typeof contract>` finds missing ones. */
export type Handlers<C extends Contract, Context = undefined> = {
  readonly [Name in keyof C]: Handler<C[Name], Context>;
};

/** Like {@link Handlers}, but operations named in `NotYet` answer 501 and must have no handler. */
export type HandlersOrNotYet<C extends Contract, NotYet extends keyof C, Context = undefined> = {
  readonly [Name in Exclude<keyof C, NotYet>]: Handler<C[Name], Context>;
} & Readonly<Partial<Record<NotYet, never>>>;

/** A {@link HandlerCall} of an unknown endpoint, for code that wraps every handler. */
export interface AnyCall<Context> {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly lastEventId: string | undefined;
  readonly context: Context;
}

/** A handler of any endpoint, for code that handles all endpoints alike. */
export type AnyHandler<Context> = (call: AnyCall<Context>) => unknown;
