import type { Endpoint } from "@shoal/contract";
import type { Instance } from "@shoal/placement";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { PassThrough, type Readable } from "node:stream";
import type { UnknownFields } from "@shoal/router";
import { noAnswer } from "../browsers/session-errors.ts";
import { replicaHeader } from "../replicas/replica-trust.ts";
import { followEvents } from "./event-boundary.ts";
import { type AnswerHeaders, answerHeadersOf, requestHeadersFor } from "./forwarded-headers.ts";
import { logIgnoredFields, unknownFieldsHeaders } from "./ignored-fields.ts";
import { pathInside } from "./session-token.ts";

/** RFC 9110, 7.6.1: of this connection only. What another server vouches for goes no further either. */
const hopByHop = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "expect",
  "trailer",
  "transfer-encoding",
  "upgrade",
  replicaHeader,
];
/** What opens the service. */
const secret = ["authorization", "cookie", "x-api-key"];

function without(headers: IncomingHttpHeaders, names: readonly string[]): OutgoingHttpHeaders {
  const kept: OutgoingHttpHeaders = { ...headers };
  const named = headers.connection?.split(",").map((name) => name.trim().toLowerCase()) ?? [];
  for (const name of [...hopByHop, ...names, ...named]) Reflect.deleteProperty(kept, name);
  return kept;
}

/** All headers but those of one connection, for another server of this installation: it chooses itself what its instance is given. */
export function headersForServer(headers: IncomingHttpHeaders, keepsCredentials: boolean): OutgoingHttpHeaders {
  return without(headers, keepsCredentials ? ["host"] : ["host", ...secret]);
}

/** The answer of another server, which has chosen already what a client is given. */
export function answerHeadersOfServer(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return without(headers, []);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] !== undefined && headers["content-length"] !== "0");
}

/** Sends a request on, and gives the answer whose body is to follow. */
export type Exchange = (
  init: { readonly method: string; readonly headers: OutgoingHttpHeaders; readonly signal: AbortSignal },
  body: Readable | undefined,
) => Promise<IncomingMessage>;

/** Which headers pass, in lower case. */
export interface RelayedHeaders {
  readonly request: OutgoingHttpHeaders;
  /** They have precedence over what the reply says of itself. */
  readonly answer: AnswerHeaders;
}

/** A request as it came, and its reply. */
export interface Forwarding {
  readonly request: Pick<FastifyRequest, "id" | "method" | "raw">;
  readonly reply: FastifyReply;
}

/**
 * Hands a request to the session's instance and its answer back.
 *
 * @throws {ServiceError} before anything was answered.
 */
export async function forward(instance: Instance, sessionId: string, forwarding: Forwarding, headers: RelayedHeaders): Promise<void> {
  const path = pathInside(forwarding.request.raw.url ?? "");
  await relay(forwarding, headers, async (init, body) => {
    try {
      const answer = await instance.request({ ...init, path }, body);
      logIgnoredFields(forwarding.reply, answer.headers);
      return answer;
    } catch (error) {
      throw noAnswer(error, sessionId);
    }
  });
}

/**
 * Sends a request on and its answer back: bytes as they are, in both directions, at the pace of the slower side. Either side's end ends the other.
 *
 * @throws what `exchange` does, before anything was answered.
 */
export async function relay({ request, reply }: Forwarding, headers: RelayedHeaders, exchange: Exchange): Promise<void> {
  const { raw } = request;
  const response = reply.raw;
  const gone = new AbortController();
  let answer: IncomingMessage | undefined;
  response.on("close", () => {
    // The service may end the stream itself, before the instance does.
    if (!response.writableFinished || answer?.complete === false) gone.abort();
  });
  const body = hasBody(raw) ? bodyOf(raw) : undefined;
  try {
    answer = await exchange({ method: request.method, headers: framed(headers.request, body, request.id), signal: gone.signal }, body);
  } catch (error) {
    if (gone.signal.aborted) {
      reply.hijack();
      response.destroy();
      return;
    }
    throw error;
  }
  reply.hijack();
  // Node's client stops an upload whose answer is complete, without a word. The rest is dropped here, or the client would wait for ever.
  answer.on("end", () => body?.destroy());
  answer.on("error", () => {
    response.destroy();
  });
  answer.on("close", () => {
    // A body that breaks off must break off here too, or half a file would look whole.
    if (!answer.complete) response.destroy();
  });
  response.on("error", () => {
    answer.destroy();
  });
  const head: OutgoingHttpHeaders = {};
  // The request's id, and what is left of a rate limit.
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) head[name] = value;
  Object.assign(head, headers.answer(answer.headers));
  // What a head is written with at once cannot be looked up again, and event streams are told from other answers by their type.
  const type = head["content-type"];
  if (type !== undefined) response.setHeader("content-type", type);
  if (String(type).startsWith("text/event-stream")) followEvents(answer, response);
  response.writeHead(answer.statusCode ?? 502, head);
  // The head of a stream must not wait for its first event.
  response.flushHeaders();
  answer.pipe(response);
}

/** Says how long the body is. Node's client writes the body of a DELETE without a length as it is, where the instance would read it as further requests. */
function framed(headers: OutgoingHttpHeaders, body: Readable | undefined, requestId: string): OutgoingHttpHeaders {
  const isChunked = body !== undefined && headers["content-length"] === undefined;
  return { ...headers, ...(isChunked && { "transfer-encoding": "chunked" }), "x-request-id": requestId };
}

/**
 * The request's body as a stream of its own. When the instance stops reading, because it answered early or is gone, the rest is read and
 * dropped; were the request itself destroyed, its connection would go with it, and the client would never see the answer.
 */
function bodyOf(request: IncomingMessage): Readable {
  const body = new PassThrough();
  request.on("error", (error) => body.destroy(error));
  body.on("error", () => undefined);
  body.on("close", () => {
    request.unpipe(body);
    request.resume();
  });
  return request.pipe(body);
}

/** Finds the instance that a request is for. */
export interface InstancePlane {
  /** `undefined` = another server has it, and answers. @throws {ServiceError} 401, 403, 404, 409, 503. */
  instanceFor(request: FastifyRequest, sessionId: string): Promise<Instance | undefined>;
  /** What instances do with fields that the contract does not know. Default `ignore`. */
  readonly unknownFields?: UnknownFields;
}

/** Serves an endpoint of the instance plane: whatever it takes and answers, the bytes go through. */
export function serveForwarded(app: FastifyInstance, endpoint: Endpoint, plane: InstancePlane): void {
  const answer = answerHeadersOf(endpoint);
  const isStream = Object.values(endpoint.responses).some((content) => content.kind === "events");
  const requestHeaders = unknownFieldsHeaders(plane.unknownFields ?? "ignore");
  app.route<{ Params: { id: string } }>({
    method: endpoint.method === "GET" && !isStream ? ["GET", "HEAD"] : endpoint.method,
    url: endpoint.path.replaceAll(/\{(\w+)\}/g, ":$1"),
    exposeHeadRoute: false,
    async handler(request, reply) {
      const { id } = request.params;
      const instance = await plane.instanceFor(request, id);
      if (instance !== undefined)
        await forward(instance, id, { request, reply }, { request: { ...requestHeadersFor(request.headers), ...requestHeaders }, answer });
    },
  });
}
