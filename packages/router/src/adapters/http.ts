import type { Contract, Endpoint } from "@shoal/contract";
import createRouter from "find-my-way";
import type { IncomingMessage, ServerResponse } from "node:http";
import { errorReply, isFault, malformedPath, unknownRoute } from "../reply/error-reply.ts";
import { ClientGone } from "../request/guarded-stream.ts";
import type { AnyHandler, Handler, Handlers } from "../handler/handler.ts";
import { ignoredFieldsHeader } from "../request/ignored-fields.ts";
import { Operation, type OperationOptions, type UnknownFields } from "../operation/operation.ts";
import { sendStream, sendText, type Reply } from "../reply/reply.ts";
import { requestIdOf } from "../request/request-id.ts";
import { maxParamLength, placeholders, routePath } from "./route-path.ts";

export { createEndpointFinder, type EndpointFinder, type FoundEndpoint } from "./find-endpoint.ts";
export { answerClientError } from "../reply/error-reply.ts";
export { requestIdOf } from "../request/request-id.ts";

/** Options of {@link HttpRouter}. */
export interface HttpRouterOptions<Context> extends OperationOptions<Context> {
  /** Removed from the start of every endpoint's path, including placeholders: `/browsers/{id}`. */
  readonly stripPrefix?: string;
  /** Values of the placeholders in `stripPrefix`, which are missing from requests. A missing value is `""`. */
  prefixParams?(request: IncomingMessage): Readonly<Record<string, string>>;
  /** Called before the request is validated. Errors are answered. */
  context(request: IncomingMessage, endpoint: Endpoint): Context | Promise<Context>;
  /** Overrides `unknownFields` for one request. */
  unknownFieldsOf?(request: IncomingMessage): UnknownFields | undefined;
  /** Called for every failure that clients see as a 500 or as a broken stream. */
  onError?(error: unknown, requestId: string): void;
  /** Called for every request to an endpoint before it is answered. */
  onRequest?(endpoint: Endpoint, requestId: string, response: ServerResponse): void;
}

/** Serves endpoints to requests of a `node:http` server. */
export class HttpRouter<Context> {
  readonly #options: HttpRouterOptions<Context>;
  readonly #stripPrefix: string;
  readonly #fixedParams: readonly string[];
  readonly #methods = new Set<createRouter.HTTPMethod>();
  readonly #router = createRouter({
    maxParamLength,
    onBadUrl: malformed,
    defaultRoute: (request, response) => {
      this.#refuse(request, response);
    },
  });

  constructor(options: HttpRouterOptions<Context>) {
    this.#options = options;
    this.#stripPrefix = options.stripPrefix ?? "";
    this.#fixedParams = placeholders(this.#stripPrefix);
  }

  /** @throws {Error} when the method and path are taken. */
  mount<E extends Endpoint>(endpoint: E, handler: Handler<E, Context>): void {
    this.#add(endpoint, handler as AnyHandler<Context>);
  }

  /** A missing handler does not compile. @throws {Error} when a method and path are taken. */
  mountAll<C extends Contract>(contract: C, handlers: Handlers<C, Context>): void {
    for (const [name, endpoint] of Object.entries(contract)) this.#add(endpoint, handlers[name] as AnyHandler<Context>);
  }

  /** Answers a request; never throws. */
  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    this.#router.lookup(request, response);
  };

  #add(endpoint: Endpoint, handler: AnyHandler<Context>): void {
    const prefix = this.#stripPrefix;
    if (!endpoint.path.startsWith(prefix))
      throw new Error(`${endpoint.operationId}: its path ${endpoint.path} does not begin with ${prefix}.`);
    const operation = new Operation(endpoint, handler, this.#options, this.#fixedParams);
    const handled: createRouter.HTTPMethod[] = operation.takesHead ? [endpoint.method, "HEAD"] : [endpoint.method];
    for (const method of handled) this.#methods.add(method);
    this.#router.on(handled, routePath(endpoint.path.slice(prefix.length)), (request, response, params) => {
      void this.#serve(operation, request, response, params);
    });
  }

  async #serve(
    operation: Operation<Context>,
    request: IncomingMessage,
    response: ServerResponse,
    pathParams: Readonly<Record<string, string | undefined>>,
  ): Promise<void> {
    const options = this.#options;
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
        fixedParams: this.#fixedParamsOf(request),
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

  #fixedParamsOf(request: IncomingMessage): Readonly<Record<string, string>> | undefined {
    if (this.#fixedParams.length === 0) return undefined;
    const given = this.#options.prefixParams?.(request);
    return Object.fromEntries(this.#fixedParams.map((name) => [name, given?.[name] ?? ""]));
  }

  #refuse(request: IncomingMessage, response: ServerResponse): void {
    const url = request.url ?? "/";
    const allowed = [...this.#methods].filter((method) => this.#router.find(method, url) !== null);
    sendText(
      response,
      unknownRoute(request.method ?? "GET", url.split("?", 1)[0] ?? url, allowed),
      requestIdOf(request.headers),
    );
  }
}

/** Answers outside of a router, in the same way. */
export function answerError({ headers }: IncomingMessage, response: ServerResponse, error: unknown): void {
  const requestId = requestIdOf(headers);
  sendText(response, errorReply(error, requestId), requestId);
}

function malformed(_path: string, request: IncomingMessage, response: ServerResponse): void {
  sendText(response, malformedPath(), requestIdOf(request.headers));
}
