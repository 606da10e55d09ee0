import type { Endpoint } from "@shoal/contract";
import type { Instance } from "@shoal/placement";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { PassThrough, type Readable } from "node:stream";
import { noAnswer } from "../browsers/session-errors.ts";
import { replicaHeader } from "../replicas/replica-trust.ts";
import { followEvents } from "./event-boundary.ts";
import { withoutSessionToken } from "./session-token.ts";

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
/** What opens the service is not the instance's business: what runs there is not trusted. */
const secret = ["authorization", "cookie", "x-api-key", "host"];

function without(headers: IncomingHttpHeaders, names: readonly string[]): OutgoingHttpHeaders {
  const kept: OutgoingHttpHeaders = { ...headers };
  const named = headers.connection?.split(",").map((name) => name.trim().toLowerCase()) ?? [];
  for (const name of [...hopByHop, ...names, ...named]) Reflect.deleteProperty(kept, name);
  return kept;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] !== undefined && headers["content-length"] !== "0");
}

/** `/fs/read_file?path=%2Fa` of `/browsers/k3f9/fs/read_file?path=%2Fa`, byte for byte. */
function pathInside(url: string): string {
  return withoutSessionToken(url.replace(/^\/browsers\/[^/?]+/, ""));
}

/** Sends a request on, and gives the answer whose body is to follow. */
export type Exchange = (
  init: { readonly method: string; readonly headers: OutgoingHttpHeaders; readonly signal: AbortSignal },
  body: Readable | undefined,
) => Promise<IncomingMessage>;

/** What is done differently for some requests. */
export interface ForwardOptions {
  /** Passes `authorization` and `cookie`, where they are not what opens the service. */
  readonly keepsCredentials?: boolean;
  /** In lower case; in place of the client's own. */
  readonly requestHeaders?: OutgoingHttpHeaders;
  /** In lower case; in place of the instance's own. */
  readonly answerHeaders?: OutgoingHttpHeaders;
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
export async function forward(instance: Instance, sessionId: string, forwarding: Forwarding, options: ForwardOptions = {}): Promise<void> {
  const path = pathInside(forwarding.request.raw.url ?? "");
  await relay(forwarding, { ...options, droppedAnswerHeaders: ["set-cookie"] }, async (init, body) => {
    try {
      return await instance.request({ ...init, path }, body);
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
export async function relay(
  { request, reply }: Forwarding,
  options: ForwardOptions & { readonly droppedAnswerHeaders?: readonly string[] },
  exchange: Exchange,
): Promise<void> {
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
    const dropped = options.keepsCredentials === true ? ["host"] : secret;
    const headers = { ...without(raw.headers, dropped), ...options.requestHeaders, "x-request-id": request.id };
    answer = await exchange({ method: request.method, headers, signal: gone.signal }, body);
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
  const head: OutgoingHttpHeaders = { ...without(answer.headers, options.droppedAnswerHeaders ?? []), ...options.answerHeaders };
  // The request's id, and what is left of a rate limit.
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) head[name] = value;
  // What a head is written with at once cannot be looked up again, and event streams are told from other answers by their type.
  const type = answer.headers["content-type"];
  if (type !== undefined) response.setHeader("content-type", type);
  if (type?.startsWith("text/event-stream") === true) followEvents(answer, response);
  response.writeHead(answer.statusCode ?? 502, head);
  // The head of a stream must not wait for its first event.
  response.flushHeaders();
  answer.pipe(response);
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
}

/** Serves an endpoint of the instance plane: whatever it takes and answers, the bytes go through. */
export function serveForwarded(app: FastifyInstance, endpoint: Endpoint, plane: InstancePlane): void {
  const isStream = Object.values(endpoint.responses).some((content) => content.kind === "events");
  app.route<{ Params: { id: string } }>({
    method: endpoint.method === "GET" && !isStream ? ["GET", "HEAD"] : endpoint.method,
    url: endpoint.path.replaceAll(/\{(\w+)\}/g, ":$1"),
    exposeHeadRoute: false,
    async handler(request, reply) {
      const { id } = request.params;
      const instance = await plane.instanceFor(request, id);
      if (instance !== undefined) await forward(instance, id, { request, reply });
    },
  });
}
