import type { Contract, Endpoint } from "@shoal/contract";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Handler, Handlers } from "../handler/handler.ts";
import { HttpRouter, type HttpRouterOptions } from "./http.ts";
import { WebRequest } from "./web-request.ts";
import { WebResponse } from "./web-response.ts";

/** Options of {@link createFetchRouter}. */
export interface FetchRouterOptions<Context> extends Omit<
  HttpRouterOptions<Context>,
  "context" | "prefixParams" | "unknownFieldsOf"
> {
  /** Values of the placeholders in `stripPrefix`, which are missing from requests. */
  readonly prefixParams?: (request: Request) => Readonly<Record<string, string>>;
  /** Called before the request is validated. Errors are answered. */
  context(request: Request, endpoint: Endpoint): Context | Promise<Context>;
}

/** Serves endpoints to web-standard requests, without a socket or server. */
export interface FetchRouter<Context> {
  /** @throws {Error} when the method and path are taken. */
  mount<E extends Endpoint>(endpoint: E, handler: Handler<E, Context>): void;
  /** A missing handler does not compile. @throws {Error} when a method and path are taken. */
  mountAll<C extends Contract>(contract: C, handlers: Handlers<C, Context>): void;
  /**
   * Answers a request to any host. Rejects only like `fetch`: when the request is aborted or its connection is lost.
   */
  readonly fetch: (request: Request) => Promise<Response>;
}

/** Makes a router that answers a `Request` with a `Response`. Otherwise the same as {@link HttpRouter}. */
export function createFetchRouter<Context = undefined>(options: FetchRouterOptions<Context>): FetchRouter<Context> {
  const { prefixParams, ...others } = options;
  const router = new HttpRouter<Context>({
    ...others,
    context: (request, endpoint) => options.context(webOf(request), endpoint),
    ...(prefixParams && { prefixParams: (request: IncomingMessage) => prefixParams(webOf(request)) }),
  });
  return {
    mount(endpoint, handler) {
      router.mount(endpoint, handler);
    },
    mountAll(contract, handlers) {
      router.mountAll(contract, handlers);
    },
    fetch: (request) => answerFetch(router.handle, request),
  };
}

function webOf(request: IncomingMessage): Request {
  return (request as unknown as WebRequest).web;
}

/** Runs a handler of Node's requests on a web-standard request. Its objects implement only what this package uses. */
export async function answerFetch(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  request: Request,
): Promise<Response> {
  const { signal } = request;
  signal.throwIfAborted();
  const incoming = new WebRequest(request);
  const response = new WebResponse(request.method);
  const abort = (): void => {
    const reason: unknown = signal.reason;
    const error = reason instanceof Error ? reason : new DOMException("This operation was aborted", "AbortError");
    incoming.destroy(error);
    response.destroy(error);
  };
  signal.addEventListener("abort", abort, { once: true });
  response.on("close", () => {
    signal.removeEventListener("abort", abort);
    incoming.destroy();
  });
  // Not Node's own classes: their constructors require a socket.
  handle(incoming as unknown as IncomingMessage, response as unknown as ServerResponse);
  return response.web;
}
