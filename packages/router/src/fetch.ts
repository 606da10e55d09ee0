import type { Contract, Endpoint } from "@shoal/contract";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Handler, Handlers } from "./handler.ts";
import { createHttpRouter, type HttpRouterOptions } from "./http.ts";
import { WebRequest } from "./web-request.ts";
import { WebResponse } from "./web-response.ts";

/** How {@link createFetchRouter} serves. */
export interface FetchRouterOptions<Context> extends Omit<HttpRouterOptions<Context>, "context" | "prefixParams" | "unknownFieldsOf"> {
  /** Values of the placeholders in `stripPrefix`, which requests do not carry. */
  readonly prefixParams?: (request: Request) => Readonly<Record<string, string>>;
  /** Makes what handlers find in `context`; called before anything of the request is checked. What it throws is answered. */
  context(request: Request, endpoint: Endpoint): Context | Promise<Context>;
}

/** Serves endpoints to web-standard requests: no socket, no server. */
export interface FetchRouter<Context> {
  /** @throws {Error} when its method and path are taken. */
  mount<E extends Endpoint>(endpoint: E, handler: Handler<E, Context>): void;
  /** Mounts every operation of `contract`. */
  mountAll<C extends Contract>(contract: C, handlers: Handlers<C, Context>): void;
  /** Answers a request, of whatever host. Rejects only where `fetch` would: when the request is aborted or its connection goes. */
  readonly fetch: (request: Request) => Promise<Response>;
}

/** Makes a router that answers a `Request` with a `Response`. Behaves in all else as {@link createHttpRouter}'s, bodies and streams included. */
export function createFetchRouter<Context = undefined>(options: FetchRouterOptions<Context>): FetchRouter<Context> {
  const { prefixParams, ...others } = options;
  const router = createHttpRouter<Context>({
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
  // `answerFetch` made it.
  return (request as unknown as WebRequest).web;
}

/**
 * Runs a handler of Node's requests, such as the `handle` of {@link createHttpRouter}'s, on a web-standard one.
 * The handler gets objects that have of `IncomingMessage` and `ServerResponse` what this package uses: streams, headers and status.
 */
export async function answerFetch(handle: (request: IncomingMessage, response: ServerResponse) => void, request: Request): Promise<Response> {
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
  // They are not Node's own classes, whose constructors want a socket.
  handle(incoming as unknown as IncomingMessage, response as unknown as ServerResponse);
  return response.web;
}
