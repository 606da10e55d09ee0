import type { FastifyReply, FastifyRequest } from "fastify";
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { PassThrough, type Readable } from "node:stream";
import { followEvents } from "./event-boundary.ts";
import { ownRequestHeader } from "./auth/own-requests.ts";
import { downloadHeadersOf } from "./auth/page-downloads.ts";

/** One server signs the sender of a forwarded request in this header. */
export const replicaHeader = "x-shoal-replica";

/** Headers of one connection (RFC 9110, 7.6.1) and of the forwarding server. */
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
  ownRequestHeader,
];
const secret = ["authorization", "cookie", "x-api-key"];

function without(headers: IncomingHttpHeaders, names: readonly string[]): OutgoingHttpHeaders {
  const kept: OutgoingHttpHeaders = { ...headers };
  const named = headers.connection?.split(",").map((name) => name.trim().toLowerCase()) ?? [];
  for (const name of [...hopByHop, ...names, ...named]) Reflect.deleteProperty(kept, name);
  return kept;
}

/** The other server selects the headers for its instance. */
export function headersForServer(headers: IncomingHttpHeaders, keepsCredentials: boolean): OutgoingHttpHeaders {
  return without(headers, keepsCredentials ? ["host"] : ["host", ...secret]);
}

/** The other server has already selected the headers. */
export function answerHeadersOfServer(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return without(headers, []);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return (
    headers["transfer-encoding"] !== undefined ||
    (headers["content-length"] !== undefined && headers["content-length"] !== "0")
  );
}

/** Resolves with the head of the answer. */
export type Exchange = (
  init: { readonly method: string; readonly headers: OutgoingHttpHeaders; readonly signal: AbortSignal },
  body: Readable | undefined,
) => Promise<IncomingMessage>;

export interface RelayedHeaders {
  readonly request: OutgoingHttpHeaders;
  readonly answer: (headers: IncomingHttpHeaders) => OutgoingHttpHeaders;
}

export interface Forwarding {
  readonly request: Pick<FastifyRequest, "id" | "method" | "raw">;
  readonly reply: FastifyReply;
  /** The body of the request, if it has been read already. */
  readonly body?: Readable;
}

/**
 * With backpressure. If one side closes, the other is closed too.
 * @throws the error of `exchange`, before any byte of an answer is sent.
 */
export async function relay(
  { body: read, request, reply }: Forwarding,
  headers: RelayedHeaders,
  exchange: Exchange,
): Promise<void> {
  const { raw } = request;
  const response = reply.raw;
  const gone = new AbortController();
  let answer: IncomingMessage | undefined;
  response.on("close", () => {
    // The service may end the stream before the instance does.
    if (!response.writableFinished || answer?.complete === false) gone.abort();
  });
  const body = hasBody(raw) ? (read ?? bodyOf(raw)) : undefined;
  try {
    answer = await exchange(
      { method: request.method, headers: framed(headers.request, body, request.id), signal: gone.signal },
      body,
    );
  } catch (error) {
    if (gone.signal.aborted) {
      reply.hijack();
      response.destroy();
      return;
    }
    throw error;
  }
  reply.hijack();
  // Node's client silently stops an upload once the answer is complete. Discard the rest, or the client would wait
  // forever.
  answer.on("end", () => body?.destroy());
  answer.on("error", () => {
    response.destroy();
  });
  answer.on("close", () => {
    // A truncated body must be truncated here too, or half a file would look complete.
    if (!answer.complete) response.destroy();
  });
  response.on("error", () => {
    answer.destroy();
  });
  const head: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) head[name] = value;
  Object.assign(head, headers.answer(answer.headers), downloadHeadersOf(raw));
  // Headers passed to writeHead cannot be read back, and `getHeader("content-type")` identifies event streams.
  const type = head["content-type"];
  if (type !== undefined) response.setHeader("content-type", type);
  if (String(type).startsWith("text/event-stream")) followEvents(answer, response);
  response.writeHead(answer.statusCode ?? 502, head);
  // Clients need the head of a stream before its first event.
  response.flushHeaders();
  answer.pipe(response);
}

/** Node's client sends the body of a DELETE without framing, and the instance would parse it as another request. */
function framed(headers: OutgoingHttpHeaders, body: Readable | undefined, requestId: string): OutgoingHttpHeaders {
  const isChunked = body !== undefined && headers["content-length"] === undefined;
  return { ...headers, ...(isChunked && { "transfer-encoding": "chunked" }), "x-request-id": requestId };
}

/** A separate stream, because destroying the request would close the connection before the client gets the answer. */
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
