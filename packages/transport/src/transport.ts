import type {
  EmptyContent,
  Endpoint,
  EventOf,
  EventStreamContent,
  JsonContent,
  PageContent,
  RequestOf,
  ResponseContent,
  TokenPageContent,
} from "@shoal/contract/endpoint";
import type * as z from "zod/mini";
import { checkValue, readJson } from "./answers/answer.ts";
import type { Download } from "./answers/download.ts";
import { EventStream } from "./events/event-stream.ts";
import { exchange } from "./exchange/exchange.ts";
import { contractError } from "./exchange/failures.ts";
import type { CallOptions, DownloadOptions, StreamOptions, TransportOptions } from "./surface/options.ts";
import type { ItemPage } from "./answers/page.ts";
import { contentOf, planOf, type AnyRequest, type Settings } from "./request/plan.ts";
import { settingsOf } from "./request/settings.ts";

type SuccessOf<E extends Endpoint> = E["responses"][keyof E["responses"]];
type ResultOfContent<Content> = Content extends PageContent<infer S> | TokenPageContent<infer S>
  ? ItemPage<z.output<S>>
  : Content extends JsonContent<infer S>
    ? z.output<S>
    : Content extends EmptyContent
      ? undefined
      : never;

/** Result of `call`: the JSON value, a page, or `undefined`. `unknown` for the general type `Endpoint`. */
export type CallResult<E extends Endpoint> = Endpoint extends E ? unknown : ResultOfContent<SuccessOf<E>>;

/** Result of `download`; may be `undefined` when the endpoint declares a response without a body. */
export type DownloadResult<E extends Endpoint> = Endpoint extends E
  ? Download | undefined
  : Extract<SuccessOf<E>, EmptyContent> extends never
    ? Download
    : Download | undefined;

/** `request` may be left out where nothing in it is required. */
export type CallArguments<E extends Endpoint, Options> =
  object extends RequestOf<E>
    ? [request?: RequestOf<E>, options?: Options]
    : [request: RequestOf<E>, options?: Options];

/** A result, with the response on request. */
export interface WithResponse<T> {
  readonly data: T;
  /** Its body has been read. */
  readonly response: Response;
}

/** A running call: a promise of its result. */
export interface Call<T> extends Promise<T> {
  /**
   * Also resolves to the response, with its status and headers.
   *
   * @example
   * const { data, response } = await shoal.browsers.get(id).withResponse();
   */
  withResponse(): Promise<WithResponse<T>>;
}

/** Starts a call whose response `withResponse` returns. `start` must pass its options on. */
export function callOf<T>(options: CallOptions | undefined, start: (options: CallOptions) => Promise<T>): Call<T> {
  let response: Response | undefined;
  const data = start({
    ...options,
    onAnswer(answer) {
      response = answer;
      options?.onAnswer?.(answer);
    },
  });
  // A call that resolves has a response.
  return Object.assign(data, { withResponse: async () => ({ data: await data, response }) }) as Call<T>;
}

/** Calls any endpoint. */
export interface Transport {
  /** Address of the service without a trailing slash. */
  readonly baseUrl: string;
  /**
   * Sends a request and reads the response: JSON, a page of a list, or nothing.
   *
   * @returns the JSON of the response, including fields that this version does not know.
   * @throws {ApiError} for an error response; {@link ConnectionError}, {@link TimeoutError}, {@link ContractError};
   *   the reason of an aborted signal; `TypeError` for an invalid path parameter, before anything is sent.
   */
  call<E extends Endpoint>(endpoint: E, ...args: CallArguments<E, CallOptions>): Call<CallResult<E>>;
  /** Reads an endpoint with server-sent events. Connects on the first read. */
  stream<E extends Endpoint>(endpoint: E, ...args: CallArguments<E, StreamOptions>): EventStream<EventOf<E>>;
  /** Starts a download; resolves when the response begins. `undefined` for a declared response without a body. */
  download<E extends Endpoint>(endpoint: E, ...args: CallArguments<E, DownloadOptions>): Promise<DownloadResult<E>>;
  /** Sends a request, with retries, and returns the response with any status. */
  fetch<E extends Endpoint>(endpoint: E, ...args: CallArguments<E, CallOptions>): Promise<Response>;
}

const methods = {
  json: "call",
  page: "call",
  tokenPage: "call",
  empty: "call",
  events: "stream",
  bytes: "download",
} as const;

/** @throws {TypeError} when the endpoint needs another method of the transport. */
function contentFor(endpoint: Endpoint, method: "call" | "stream" | "download"): ResponseContent {
  const content = contentOf(endpoint);
  const right = methods[content.kind];
  if (right !== method)
    throw new TypeError(`${endpoint.operationId} returns ${content.kind}: use ${right} instead of ${method}.`);
  return content;
}

async function callAny(
  settings: Settings,
  endpoint: Endpoint,
  request: AnyRequest = {},
  options: CallOptions = {},
): Promise<unknown> {
  contentFor(endpoint, "call");
  const plan = await planOf(settings, endpoint, request, options);
  return exchange(settings, plan, "text", async (answer) => {
    const { response } = answer;
    options.onAnswer?.(response);
    const content = contentOf(endpoint, response.status);
    switch (content.kind) {
      case "empty":
        await answer.text();
        return undefined;
      case "json": {
        const value = await readJson(plan, answer);
        checkValue(settings, plan, response, { schema: content.schema, value, at: "body" });
        return value;
      }
      case "page": {
        const value = await readJson(plan, answer);
        const { pageOf } = await import("./answers/page.ts");
        const query = { ...(request.query as { offset?: number } | undefined) };
        return pageOf(settings, plan, response, {
          item: content.item,
          value,
          offset: query.offset ?? 0,
          fetch: (offset) =>
            callAny(settings, endpoint, { ...request, query: { ...query, offset } }, options) as Promise<
              ItemPage<unknown>
            >,
        });
      }
      case "tokenPage": {
        const value = await readJson(plan, answer);
        const { tokenPageOf } = await import("./answers/page.ts");
        const query = { ...(request.query as { page_token?: string } | undefined) };
        return tokenPageOf(settings, plan, response, {
          item: content.item,
          value,
          token: query.page_token,
          fetch: (page_token) =>
            callAny(settings, endpoint, { ...request, query: { ...query, page_token } }, options) as Promise<
              ItemPage<unknown>
            >,
        });
      }
      case "events":
      case "bytes":
        // `contentFor` only checks the first declared status.
        throw contractError(plan, response, "status", `unexpected content: ${content.kind}`);
    }
  });
}

/**
 * Creates a transport for one service and key.
 * @throws {TypeError} when `baseUrl`, `apiKey` or `maxConcurrency` is invalid.
 */
export function createTransport(options: TransportOptions): Transport {
  const settings = settingsOf(options);
  return {
    baseUrl: settings.baseUrl,
    // The type follows from the endpoint, which `callAny` reads.
    call: (endpoint, ...[request, callOptions]) =>
      callOf(callOptions, (all) => callAny(settings, endpoint, request as AnyRequest, all) as Promise<never>),
    stream(endpoint, ...[request, streamOptions = {}]) {
      const content = contentFor(endpoint, "stream");
      return new EventStream({
        settings,
        event: (content as EventStreamContent).event,
        options: streamOptions,
        plan: (lastEventId, extra) =>
          planOf(settings, endpoint, request ?? {}, {
            ...streamOptions,
            ...extra,
            headers: {
              ...streamOptions.headers,
              "x-shoal-stream": streamOptions.onCaughtUp === undefined ? "gaps" : "gaps, caught_up",
              ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
            },
          }),
      });
    },
    async download(endpoint, ...[request, downloadOptions = {}]) {
      contentFor(endpoint, "download");
      const plan = await planOf(settings, endpoint, request ?? {}, downloadOptions);
      const { downloadOf } = await import("./answers/download.ts");
      const result = exchange(settings, plan, "stream", async ({ response }) => {
        if (contentOf(endpoint, response.status).kind !== "empty") return downloadOf(settings, plan, response);
        await response.body?.cancel();
        return undefined;
      });
      // The type follows from the endpoint.
      return result as Promise<DownloadResult<typeof endpoint>>;
    },
    async fetch(endpoint, ...[request, callOptions = {}]) {
      const plan = await planOf(settings, endpoint, request ?? {}, callOptions);
      return exchange(settings, plan, "any", ({ response }) => response);
    },
  };
}
