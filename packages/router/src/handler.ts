import type { BytesContent, CheckedRequestOf, Contract, EmptyContent, Endpoint, EventOf, EventStreamContent, ItemOf, JsonContent, MultipartBody, Page, PageContent } from "@shoal/contract";
import type * as z from "zod/mini";
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";

/** One part of a multipart body, in the order in which it arrives. A file's stream must be read, or destroyed, before the next part comes. */
export type MultipartPart =
  | { readonly kind: "field"; readonly name: string; readonly value: string }
  | { readonly kind: "file"; readonly name: string; readonly filename: string; readonly contentType: string; readonly stream: Readable };

/** What a handler receives. `Context` is whatever the program's `context` function made of the request, an authenticated key for instance. */
export interface HandlerCall<E extends Endpoint, Context = undefined> extends Omit<CheckedRequestOf<E>, "body"> {
  /** JSON: the checked value. Bytes: the stream. Multipart: its parts, as they arrive. */
  readonly body: E extends { readonly body: BytesContent } ? Readable : E extends { readonly body: MultipartBody } ? AsyncIterable<MultipartPart> : CheckedRequestOf<E>["body"];
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
}

/** One frame of an event stream. */
export type StreamFrame<T> =
  | { readonly id: string; readonly data: T }
  /** Events that this reader can no longer get. Sent, as `event: gap`, only to clients that ask with `X-Shoal-Stream: gaps`; ids show the gap to all. */
  | { readonly id: string; readonly gap: { readonly missed: number } };

type SuccessOf<E extends Endpoint> = E["responses"][keyof E["responses"]];

/** What a handler returns. A stream's iterator is returned (its `return` is called) when the client goes away. */
export type HandlerResult<E extends Endpoint> =
  SuccessOf<E> extends JsonContent<infer S>
    ? z.output<S>
    : SuccessOf<E> extends PageContent
      ? Page<ItemOf<E>>
      : SuccessOf<E> extends EventStreamContent
        ? AsyncIterable<StreamFrame<EventOf<E>>>
        : SuccessOf<E> extends BytesContent
          ? BytesReply
          : SuccessOf<E> extends EmptyContent
            ? undefined | void
            : never;

export type Handler<E extends Endpoint, Context = undefined> = (call: HandlerCall<E, Context>) => HandlerResult<E> | Promise<HandlerResult<E>>;

/** A handler for every operation of a contract: `satisfies Handlers<typeof contract>` makes a forgotten one a compile error. */
export type Handlers<C extends Contract, Context = undefined> = { readonly [Name in keyof C]: Handler<C[Name], Context> };
