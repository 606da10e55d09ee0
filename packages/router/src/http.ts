import type { Contract, Endpoint } from "@shoal/contract";
import createRouter from "find-my-way";
import type { IncomingMessage, ServerResponse } from "node:http";
import { errorReply, isFault, malformedPath, unknownRoute } from "./error-reply.ts";
import { ClientGone } from "./guarded-stream.ts";
import type { Handler, Handlers } from "./handler.ts";
import { ignoredFieldsHeader } from "./ignored-fields.ts";
import { createOperation, type AnyHandler, type Operation, type OperationOptions, type UnknownFields } from "./operation.ts";
import { sendStream, sendText, type Reply } from "./reply.ts";
import { requestIdOf } from "./request-id.ts";
import { maxParamLength, placeholders, routePath } from "./route-path.ts";

export { answerClientError } from "./error-reply.ts";
export { requestIdOf } from "./request-id.ts";

/** How {@link createHttpRouter} serves. */
export interface HttpRouterOptions<Context> extends OperationOptions {
  /** Taken off the front of every endpoint's path, placeholders and all: `/browsers/{id}`. */
  readonly stripPrefix?: string;
  /** Values of the placeholders in `stripPrefix`, which requests do not carry. A handler sees `""` for those that this leaves out. */
  prefixParams?(request: IncomingMessage): Readonly<Record<string, string>>;
  /** Makes what handlers find in `context`; called before anything of the request is checked. What it throws is answered. */
  context(request: IncomingMessage, endpoint: Endpoint): Context | Promise<Context>;
  /** What happens to fields of this request that the contract does not know; as `unknownFields` says when absent. */
  unknownFieldsOf?(request: IncomingMessage): UnknownFields | undefined;
  /** Told of every failure that clients see as a 500, or as a stream that breaks off. */
  onError?(error: unknown, requestId: string): void;
  /** Told of every request to an endpoint before it is answered. */
  onRequest?(endpoint: Endpoint, requestId: string, response: ServerResponse): void;
}

/** Serves endpoints to requests of a `node:http` server. */
export interface HttpRouter<Context> {
  /** @throws {Error} when its method and path are taken. */
  mount<E extends Endpoint>(endpoint: E, handler: Handler<E, Context>): void;
  /** Mounts every operation of `contract`. */
  mountAll<C extends Contract>(contract: C, handlers: Handlers<C, Context>): void;
  /** Answers a request; never throws. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
}

/** Makes a router for `createServer(router.handle)`. */
export function createHttpRouter<Context = undefined>(options: HttpRouterOptions<Context>): HttpRouter<Context> {
  const { stripPrefix = "" } = options;
  const router = createRouter({ maxParamLength, onBadUrl: malformed, defaultRoute: refuse });
  const fixedParams = placeholders(stripPrefix);
  const methods = new Set<createRouter.HTTPMethod>();

  function add(endpoint: Endpoint, handler: AnyHandler<Context>): void {
    if (!endpoint.path.startsWith(stripPrefix))
      throw new Error(`${endpoint.operationId}: its path ${endpoint.path} does not begin with ${stripPrefix}.`);
    const operation = createOperation(endpoint, handler, options, fixedParams);
    const handled: createRouter.HTTPMethod[] = operation.takesHead ? [endpoint.method, "HEAD"] : [endpoint.method];
    for (const method of handled) methods.add(method);
    router.on(handled, routePath(endpoint.path.slice(stripPrefix.length)), (request, response, params) => {
      void serve(operation, request, response, params);
    });
  }

  async function serve(
    operation: Operation<Context>,
    request: IncomingMessage,
    response: ServerResponse,
    pathParams: Readonly<Record<string, string | undefined>>,
  ): Promise<void> {
    const requestId = requestIdOf(request.headers);
    options.onRequest?.(operation.endpoint, requestId, response);
    let reply: Reply;
    try {
      const url = request.url ?? "";
      const question = url.indexOf("?");
      const made = options.context(request, operation.endpoint);
      reply = await operation.answer({
        request,
        response,
        requestId,
        params: pathParams,
        fixedParams: fixedParamsOf(request),
        queryString: question === -1 ? "" : url.slice(question + 1),
        context: made instanceof Promise ? await made : made,
        unknownFields: options.unknownFieldsOf?.(request),
        onIgnored: (fields) => {
          response.setHeader(ignoredFieldsHeader, fields);
        },
      });
    } catch (error) {
      if (error instanceof ClientGone || response.destroyed) {
        response.destroy();
        return;
      }
      if (isFault(error)) options.onError?.(error, requestId);
      reply = errorReply(error, requestId);
    }
    if (reply.kind === "text") sendText(response, reply, requestId);
    else {
      response.setHeader("x-request-id", requestId);
      sendStream(response, reply, (error) => {
        options.onError?.(error, requestId);
      });
    }
  }

  function fixedParamsOf(request: IncomingMessage): Readonly<Record<string, string>> | undefined {
    if (fixedParams.length === 0) return undefined;
    const given = options.prefixParams?.(request);
    return Object.fromEntries(fixedParams.map((name) => [name, given?.[name] ?? ""]));
  }

  function malformed(_path: string, request: IncomingMessage, response: ServerResponse): void {
    sendText(response, malformedPath(), requestIdOf(request.headers));
  }

  function refuse(request: IncomingMessage, response: ServerResponse): void {
    const url = request.url ?? "/";
    const allowed = [...methods].filter((method) => router.find(method, url) !== null);
    sendText(response, unknownRoute(request.method ?? "GET", url.split("?", 1)[0] ?? url, allowed), requestIdOf(request.headers));
  }

  return {
    mount(endpoint, handler) {
      add(endpoint, handler as AnyHandler<Context>);
    },
    mountAll(contract, handlers) {
      for (const [name, endpoint] of Object.entries(contract)) add(endpoint, handlers[name] as AnyHandler<Context>);
    },
    handle(request, response) {
      router.lookup(request, response);
    },
  };
}
