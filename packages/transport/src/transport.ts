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
} from "@shoal/contract";
import type * as z from "zod/mini";
import { checkValue, contractError, readBody, readJson } from "./answer.ts";
import type { Download } from "./download.ts";
import { EventStream } from "./event-stream.ts";
import { exchange } from "./exchange.ts";
import type { CallOptions, DownloadOptions, StreamOptions, TransportOptions } from "./options.ts";
import type { ItemPage } from "./page.ts";
import { contentOf, planOf, type AnyRequest, type Settings } from "./plan.ts";
import { settingsOf } from "./settings.ts";

type SuccessOf<E extends Endpoint> = E["responses"][keyof E["responses"]];
type ResultOfContent<Content> = Content extends PageContent<infer S> | TokenPageContent<infer S>
  ? ItemPage<z.output<S>>
  : Content extends JsonContent<infer S>
    ? z.output<S>
    : Content extends EmptyContent
      ? undefined
      : never;

/** What `call` gives: the JSON value, a page, or nothing. Of an endpoint that is only known as `Endpoint`, `unknown`. */
export type CallResult<E extends Endpoint> = Endpoint extends E ? unknown : ResultOfContent<SuccessOf<E>>;

/** What `download` gives: nothing where the endpoint may answer without a body. */
export type DownloadResult<E extends Endpoint> = Endpoint extends E
  ? Download | undefined
  : Extract<SuccessOf<E>, EmptyContent> extends never
    ? Download
    : Download | undefined;

/** `request` may be left out where nothing in it is required. */
export type CallArguments<E extends Endpoint, Options> =
  object extends RequestOf<E> ? [request?: RequestOf<E>, options?: Options] : [request: RequestOf<E>, options?: Options];

/** Runs any endpoint. */
export interface Transport {
  /** Address of the service, without a slash at its end. */
  readonly baseUrl: string;
  /**
   * Sends a request and reads its answer: JSON, a page of a list, or nothing.
   *
   * @returns the answer's own JSON, fields that this version does not know among it.
   * @throws {ApiError} when the service says no, {@link ConnectionError}, {@link TimeoutError}, {@link ContractError};
   *   the signal's reason after an abort; `TypeError`, before anything is sent, for a path parameter that cannot be one.
   */
  call<E extends Endpoint>(endpoint: E, ...args: CallArguments<E, CallOptions>): Promise<CallResult<E>>;
  /** Follows an endpoint that answers with server-sent events. Connects when the stream is first read. */
  stream<E extends Endpoint>(endpoint: E, ...args: CallArguments<E, StreamOptions>): EventStream<EventOf<E>>;
  /** Begins to download from an endpoint that answers with bytes; resolves when they begin to come, or, where the endpoint declares such an answer, when there are none. */
  download<E extends Endpoint>(endpoint: E, ...args: CallArguments<E, DownloadOptions>): Promise<DownloadResult<E>>;
  /** Sends a request and gives the answer as it is, whatever its status, once the retries are used up. */
  fetch<E extends Endpoint>(endpoint: E, ...args: CallArguments<E, CallOptions>): Promise<Response>;
}

const methods = { json: "call", page: "call", tokenPage: "call", empty: "call", events: "stream", bytes: "download" } as const;

/** @throws {TypeError} when another method of the transport reads what the endpoint answers with. */
function contentFor(endpoint: Endpoint, method: "call" | "stream" | "download"): ResponseContent {
  const content = contentOf(endpoint);
  const right = methods[content.kind];
  if (right !== method) throw new TypeError(`${endpoint.operationId} answers with ${content.kind}: use ${right} instead of ${method}.`);
  return content;
}

async function callAny(settings: Settings, endpoint: Endpoint, request: AnyRequest = {}, options: CallOptions = {}): Promise<unknown> {
  contentFor(endpoint, "call");
  const plan = await planOf(settings, endpoint, request, options);
  return exchange(settings, plan, async (response, clock) => {
    const content = contentOf(endpoint, response.status);
    switch (content.kind) {
      case "empty":
        await readBody(settings, plan, response, clock);
        clock.end();
        return undefined;
      case "json": {
        const value = await readJson(settings, plan, response, clock);
        clock.end();
        checkValue(settings, plan, response, { schema: content.schema, value, at: "body" });
        return value;
      }
      case "page": {
        const value = await readJson(settings, plan, response, clock);
        clock.end();
        const { pageOf } = await import("./page.ts");
        const query = { ...(request.query as { offset?: number } | undefined) };
        return pageOf(settings, plan, response, {
          item: content.item,
          value,
          offset: query.offset ?? 0,
          fetch: (offset) => callAny(settings, endpoint, { ...request, query: { ...query, offset } }, options) as Promise<ItemPage<unknown>>,
        });
      }
      case "tokenPage": {
        const value = await readJson(settings, plan, response, clock);
        clock.end();
        const { tokenPageOf } = await import("./page.ts");
        const query = { ...(request.query as { page_token?: string } | undefined) };
        return tokenPageOf(settings, plan, response, {
          item: content.item,
          value,
          token: query.page_token,
          fetch: (page_token) => callAny(settings, endpoint, { ...request, query: { ...query, page_token } }, options) as Promise<ItemPage<unknown>>,
        });
      }
      case "events":
      case "bytes":
        // Refused below for what the endpoint declares first; another status may still say so.
        throw contractError(plan, response, "status", `an answer of ${content.kind} was not expected`);
    }
  });
}

/**
 * Makes a transport for one service and key.
 *
 * @throws {TypeError} when `baseUrl`, `apiKey` or `maxConcurrency` cannot be what they should be.
 */
export function createTransport(options: TransportOptions): Transport {
  const settings = settingsOf(options);
  return {
    baseUrl: settings.baseUrl,
    // The result's type follows from the endpoint's own declaration, which `callAny` reads.
    call: (endpoint, ...[request, callOptions]) => callAny(settings, endpoint, request as AnyRequest, callOptions) as Promise<never>,
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
            headers: { ...streamOptions.headers, "x-shoal-stream": "gaps", ...(lastEventId !== undefined && { "last-event-id": lastEventId }) },
          }),
      });
    },
    async download(endpoint, ...[request, downloadOptions = {}]) {
      contentFor(endpoint, "download");
      const plan = await planOf(settings, endpoint, request ?? {}, downloadOptions);
      const { downloadOf } = await import("./download.ts");
      const result = exchange(settings, plan, async (response, clock) => {
        if (contentOf(endpoint, response.status).kind !== "empty") return downloadOf(settings, plan, response, clock);
        await readBody(settings, plan, response, clock);
        clock.end();
        return undefined;
      });
      // The type follows from the endpoint's own declaration.
      return result as Promise<DownloadResult<typeof endpoint>>;
    },
    async fetch(endpoint, ...[request, callOptions = {}]) {
      const plan = await planOf(settings, endpoint, request ?? {}, callOptions);
      return exchange(
        settings,
        plan,
        async (response, clock) => {
          // The body is the caller's now, and so is its time.
          clock.unlimited();
          return response;
        },
        true,
      );
    },
  };
}
