import type { Contract, Endpoint } from "@shoal/contract";
import type { ErrorBody } from "@shoal/schemas";
import type { FastifyHttpOptions, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import createRouter from "find-my-way";
import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from "node:http";
import { answerClientError, errorReply, isFault, malformedPath, unknownRoute } from "../reply/error-reply.ts";
import { ClientGone } from "../request/guarded-stream.ts";
import { refuseAmbiguousHost } from "../request/host-header.ts";
import type { AnyHandler, Handler, Handlers } from "../handler/handler.ts";
import { ignoredFieldsHeader } from "../request/ignored-fields.ts";
import { Operation, type OperationOptions } from "../operation/operation.ts";
import { sendStream, type Reply, type TextReply } from "../reply/reply.ts";
import { requestIdOf } from "../request/request-id.ts";
import { maxParamLength, routePath } from "./route-path.ts";
import { ServiceError } from "../handler/service-error.ts";

export { refuseAmbiguousHost } from "../request/host-header.ts";
export { requestIdOf } from "../request/request-id.ts";

/** Thrown by a `context` that has answered the request on Node's response. The router then ignores the request. */
export class RequestTaken extends Error {
  override readonly name = "RequestTaken";
}

/** Options of {@link mount}. */
export interface MountOptions<Context> extends OperationOptions<Context> {
  /** Called before the request is validated. Errors are answered, except {@link RequestTaken}. */
  context(request: FastifyRequest, endpoint: Endpoint): Context | Promise<Context>;
}

/** Spread into `Fastify({ ... })`: the options that {@link configure} cannot set later. */
export const fastifyOptions = {
  routerOptions: { maxParamLength },
  // Node's own 400 for a request without Host has no body.
  http: { requireHostHeader: false },
  // The program refuses requests during shutdown; Fastify's own 503 has another body.
  return503OnClosing: false,
  /** Answers requests that Fastify rejects before routing, such as a malformed path. */
  frameworkErrors(_error, request, reply) {
    void reply.header("x-request-id", request.id);
    sendText(reply, malformedPath());
  },
  /** Answers bytes that are not an HTTP request, and closes the connection. */
  clientErrorHandler(error, socket) {
    answerClientError(error, socket, requestIdOf({}));
  },
} satisfies FastifyHttpOptions<Server>;

/** Options of {@link configure}. */
export interface ConfigureOptions {
  /** Translates any error before it is answered, usually into a `ServiceError`; returns other errors unchanged. */
  readonly explain?: (error: unknown, request: FastifyRequest) => unknown;
  /** An error for clients of another contract; `undefined` keeps the status and body of the service's own contract. */
  readonly foreignError?: (error: ErrorBody, status: number, request: IncomingMessage) => ForeignError | undefined;
}

/** What clients of another contract read. */
export interface ForeignError {
  readonly status: number;
  readonly body: object;
  /** Replace those of the service's own contract. */
  readonly headers?: OutgoingHttpHeaders;
}

const configured = new WeakMap<FastifyInstance, ConfigureOptions>();

/**
 * Adds a request id and the contract's error body to every answer, including 404 and 405. Turns off Fastify's body
 * parsing.
 * @throws {Error} when the server was made without {@link fastifyOptions}.
 */
export function configure(app: FastifyInstance, options: ConfigureOptions = {}): void {
  configured.set(app, options);
  if ((app.initialConfig.routerOptions?.maxParamLength ?? 0) < maxParamLength)
    throw new Error("Make the server with Fastify({ ...fastifyOptions }) of @shoal/router/fastify.");
  const known = knownPaths();
  app.addHook("onRoute", ({ method, url }) => {
    known.add([method].flat(), url);
  });
  app.setGenReqId((request) => requestIdOf(request.headers));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => {
    done(null);
  });
  app.addHook("onRequest", (request: Answered, reply, done) => {
    request[replyOfRequest] = reply;
    reply.header("x-request-id", request.id);
    refuseAmbiguousHost(request.raw);
    done();
  });
  app.server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    const { headers, status, text } = errorReply(
      new ServiceError(417, "bad_request", "Unsupported Expect header; only 100-continue is supported.", {
        hint: "Omit it.",
      }),
      "",
    );
    response
      .writeHead(status, { ...headers, "x-request-id": requestIdOf(request.headers), connection: "close" })
      .end(text);
  });
  const sendUnknown = (request: FastifyRequest, reply: FastifyReply): void => {
    const url = request.raw.url ?? "/";
    sendText(reply, shaped(unknownRoute(request.method, url.split("?", 1)[0] ?? url, known.methodsOf(url)), request));
  };
  app.setErrorHandler((error, request, reply) => {
    // Fastify checks the body of some methods, such as QUERY, before the route.
    if (request.is404 && !ServiceError.isInstance(error)) sendUnknown(request, reply);
    else sendText(reply, replyTo(fromFastify(error), request));
  });
  app.setNotFoundHandler(sendUnknown);
}

const replyOfRequest = Symbol("reply");
interface Answered extends FastifyRequest {
  [replyOfRequest]?: FastifyReply;
}

/** For a server set up with {@link configure}: lets `context` set headers. */
export function replyOf(request: FastifyRequest): FastifyReply {
  const reply = (request as Answered)[replyOfRequest];
  if (reply === undefined) throw new Error("The server has not been through configure() of @shoal/router/fastify.");
  return reply;
}

/** Serves an endpoint. The server must be set up with {@link configure}. */
export function mount<E extends Endpoint, Context>(
  app: FastifyInstance,
  endpoint: E,
  handler: Handler<E, Context>,
  options: MountOptions<Context>,
): void {
  add(app, endpoint, handler as AnyHandler<Context>, options);
}

/** A missing handler does not compile. @throws {Error} when a method and path are taken. */
export function mountAll<C extends Contract, Context>(
  app: FastifyInstance,
  contract: C,
  handlers: Handlers<C, Context>,
  options: MountOptions<Context>,
): void {
  for (const [name, endpoint] of Object.entries(contract))
    add(app, endpoint, handlers[name] as AnyHandler<Context>, options);
}

function add<Context>(
  app: FastifyInstance,
  endpoint: Endpoint,
  handler: AnyHandler<Context>,
  options: MountOptions<Context>,
): void {
  const operation = new Operation(endpoint, handler, options);
  const url = routePath(endpoint.path);
  const methods: createRouter.HTTPMethod[] = operation.takesHead ? [endpoint.method, "HEAD"] : [endpoint.method];
  app.route({
    method: methods,
    url,
    exposeHeadRoute: false,
    handler(request, reply) {
      void serve(operation, options, request, reply);
    },
  });
}

async function serve<Context>(
  operation: Operation<Context>,
  options: MountOptions<Context>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { raw } = request;
  let answer: Reply;
  try {
    const url = raw.url ?? "";
    const question = url.indexOf("?");
    const context = options.context(request, operation.endpoint);
    answer = await operation.answer({
      request: raw,
      response: reply.raw,
      requestId: request.id,
      // Fastify types them unknown; its router makes strings.
      params: request.params as Record<string, string>,
      fixedParams: undefined,
      queryString: question === -1 ? "" : url.slice(question + 1),
      context: context instanceof Promise ? await context : context,
      onIgnored: (fields) => {
        void reply.header(ignoredFieldsHeader, fields);
        request.log.info(
          { operation: operation.endpoint.operationId, ignored_fields: fields },
          "ignored fields that the contract does not know",
        );
      },
    });
  } catch (error) {
    if (error instanceof RequestTaken) return;
    if (error instanceof ClientGone || reply.raw.destroyed) {
      reply.hijack();
      reply.raw.destroy();
      return;
    }
    answer = replyTo(error, request);
  }
  if (answer.kind === "text") sendText(reply, answer);
  else {
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    sendStream(reply.raw, answer, (error) => {
      request.log.error({ err: error }, "a stream broke off");
    });
  }
}

function sendText(reply: FastifyReply, { headers, status, text }: TextReply): void {
  reply.code(status);
  for (const name in headers) reply.header(name, headers[name]);
  reply.send(text);
}

function replyTo(failure: unknown, request: FastifyRequest): TextReply {
  const error = ServiceError.isInstance(failure)
    ? failure
    : (configured.get(request.server)?.explain?.(failure, request) ?? failure);
  if (isFault(error)) request.log.error({ err: error }, "request failed");
  return shaped(errorReply(error, request.id), request);
}

function shaped(reply: TextReply, request: FastifyRequest): TextReply {
  const { foreignError } = configured.get(request.server) ?? {};
  if (foreignError === undefined || typeof reply.text !== "string") return reply;
  const error = foreignError(JSON.parse(reply.text) as ErrorBody, reply.status, request.raw);
  if (error === undefined) return reply;
  const { body, headers, status } = error;
  return { ...reply, status, headers: { ...reply.headers, ...headers }, text: JSON.stringify(body) };
}

/** Keeps the status of Fastify's own client errors, such as an unreadable media type. */
function fromFastify(error: unknown): unknown {
  if (ServiceError.isInstance(error) || !(error instanceof Error) || !("code" in error) || !("statusCode" in error))
    return error;
  const { code, message, statusCode } = error;
  if (typeof code !== "string" || !code.startsWith("FST_") || typeof statusCode !== "number" || statusCode >= 500)
    return error;
  if (statusCode === 415)
    return new ServiceError(415, "unsupported_media_type", "The Content-Type header is not a valid media type.", {
      cause: error,
    });
  return new ServiceError(statusCode, "bad_request", message, { cause: error });
}

/** Returns the methods of a path, including the program's own routes; called only when no route matches. */
function knownPaths() {
  const router = createRouter({ maxParamLength });
  const known = new Set<createRouter.HTTPMethod>();
  return {
    add(methods: readonly string[], path: string): void {
      for (const name of methods) {
        // Fastify rejects every other method before it calls the hook.
        const method = name as createRouter.HTTPMethod;
        known.add(method);
        if (!router.hasRoute(method, path)) router.on(method, path, () => undefined);
      }
    },
    methodsOf(url: string): string[] {
      return [...known].filter((method) => router.find(method, url) !== null);
    },
  };
}
