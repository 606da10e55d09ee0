import type { Contract, Endpoint } from "@shoal/contract";
import type { FastifyHttpOptions, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import createRouter from "find-my-way";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { answerClientError, errorReply, isFault, malformedPath, unknownRoute } from "./error-reply.ts";
import { ClientGone } from "./guarded-stream.ts";
import { refuseAmbiguousHost } from "./host-header.ts";
import type { Handler, Handlers } from "./handler.ts";
import { ignoredFieldsHeader } from "./ignored-fields.ts";
import { createOperation, type AnyHandler, type Operation, type OperationOptions } from "./operation.ts";
import { sendStream, type Reply, type TextReply } from "./reply.ts";
import { requestIdOf } from "./request-id.ts";
import { maxParamLength, routePath } from "./route-path.ts";
import { ServiceError } from "./service-error.ts";

export { refuseAmbiguousHost } from "./host-header.ts";
export { requestIdOf } from "./request-id.ts";

/** Thrown by a `context` that has answered the request by itself, on Node's own response: nothing more is done with it. */
export class RequestTaken extends Error {
  override readonly name = "RequestTaken";
}

/** How {@link mount} serves. */
export interface MountOptions<Context> extends OperationOptions {
  /** Makes what handlers find in `context`; called before anything of the request is checked. What it throws is answered, but for {@link RequestTaken}. */
  context(request: FastifyRequest, endpoint: Endpoint): Context | Promise<Context>;
}

/** Spread into `Fastify({ ... })`; what {@link configure} cannot set afterwards: long parameters, and the error body where Fastify would answer by itself. */
export const fastifyOptions = {
  routerOptions: { maxParamLength },
  // Node's own 400 for a request without Host has no body; ours has.
  http: { requireHostHeader: false },
  // The program says by itself when it stops taking requests; Fastify's own 503 has another body.
  return503OnClosing: false,
  /** Answers a path that cannot be decoded. */
  frameworkErrors(_error, request, reply) {
    void reply.header("x-request-id", request.id);
    sendText(reply, malformedPath());
  },
  /** Answers what is no HTTP request at all, and closes the connection. */
  clientErrorHandler(error, socket) {
    answerClientError(error, socket, requestIdOf({}));
  },
} satisfies FastifyHttpOptions<Server>;

/** What {@link configure} may be told of the program. */
export interface ConfigureOptions {
  /**
   * Says what an error means to a client, before it is answered: a `ServiceError` in place of one that says nothing to it, any other error as it is.
   * Called for whatever fails on the server, contexts and routes of the program's own included.
   */
  readonly explain?: (error: unknown, request: FastifyRequest) => unknown;
}

const explaining = new WeakMap<FastifyInstance, NonNullable<ConfigureOptions["explain"]>>();

/**
 * Makes every answer of a server that of the contract: request ids, the error body for whatever fails, 404 and 405. Bodies are no longer parsed by Fastify.
 *
 * @throws {Error} when the server was made without {@link fastifyOptions}.
 */
export function configure(app: FastifyInstance, options: ConfigureOptions = {}): void {
  if (options.explain !== undefined) explaining.set(app, options.explain);
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
      new ServiceError(417, "bad_request", "Of the Expect header only 100-continue is known. Leave it out."),
      "",
    );
    response.writeHead(status, { ...headers, "x-request-id": requestIdOf(request.headers), connection: "close" }).end(text);
  });
  app.setErrorHandler((error, request, reply) => {
    sendText(reply, replyTo(fromFastify(error), request));
  });
  app.setNotFoundHandler((request, reply) => {
    const url = request.raw.url ?? "/";
    sendText(reply, unknownRoute(request.method, url.split("?", 1)[0] ?? url, known.methodsOf(url)));
  });
}

const replyOfRequest = Symbol("reply");
interface Answered extends FastifyRequest {
  [replyOfRequest]?: FastifyReply;
}

/** The reply to a request of a server that has been through {@link configure}: for headers that `context` learns of. */
export function replyOf(request: FastifyRequest): FastifyReply {
  const reply = (request as Answered)[replyOfRequest];
  if (reply === undefined) throw new Error("The server has not been through configure() of @shoal/router/fastify.");
  return reply;
}

/** Serves an endpoint. The server must have been through {@link configure}. */
export function mount<E extends Endpoint, Context>(
  app: FastifyInstance,
  endpoint: E,
  handler: Handler<E, Context>,
  options: MountOptions<Context>,
): void {
  add(app, endpoint, handler as AnyHandler<Context>, options);
}

/** Serves every operation of `contract`. */
export function mountAll<C extends Contract, Context>(
  app: FastifyInstance,
  contract: C,
  handlers: Handlers<C, Context>,
  options: MountOptions<Context>,
): void {
  for (const [name, endpoint] of Object.entries(contract)) add(app, endpoint, handlers[name] as AnyHandler<Context>, options);
}

function add<Context>(app: FastifyInstance, endpoint: Endpoint, handler: AnyHandler<Context>, options: MountOptions<Context>): void {
  const operation = createOperation(endpoint, handler, options);
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
        request.log.info({ operation: operation.endpoint.operationId, ignored_fields: fields }, "ignored fields that the contract does not know");
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
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) reply.raw.setHeader(name, value);
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
  const error = ServiceError.isInstance(failure) ? failure : (explaining.get(request.server)?.(failure, request) ?? failure);
  if (isFault(error)) request.log.error({ err: error }, "request failed");
  return errorReply(error, request.id);
}

/** What Fastify refuses by itself (an unreadable media type, say) is the client's fault and keeps its status. */
function fromFastify(error: unknown): unknown {
  if (ServiceError.isInstance(error) || !(error instanceof Error) || !("code" in error) || !("statusCode" in error)) return error;
  const { code, message, statusCode } = error;
  if (typeof code !== "string" || !code.startsWith("FST_") || typeof statusCode !== "number" || statusCode >= 500) return error;
  if (statusCode === 415) return new ServiceError(415, "unsupported_media_type", "The Content-Type header is no valid media type.", { cause: error });
  return new ServiceError(statusCode, "bad_request", message, { cause: error });
}

/** Which methods know a path; asked only when a request fits no route. Routes that the program adds by itself are known too. */
function knownPaths() {
  const router = createRouter({ maxParamLength });
  const known = new Set<createRouter.HTTPMethod>();
  return {
    add(methods: readonly string[], path: string): void {
      for (const name of methods) {
        // Fastify has refused every other method before it calls the hook.
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
