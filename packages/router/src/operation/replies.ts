import type { BytesContent, Endpoint, JsonContent, Page, ResponseContent, TokenPage } from "@shoal/contract";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { BytesReply, StreamFrame } from "../handler/handler.ts";
import { isStatusReply } from "../handler/status-reply.ts";
import { contentDisposition, whenReadable } from "../reply/bytes-reply.ts";
import { jsonHeaders } from "../reply/error-reply.ts";
import { eventHeaders } from "../reply/event-reply.ts";
import type { Reply } from "../reply/reply.ts";
import { otherBytes } from "../reply/other-bytes.ts";
import { serializedBytes } from "../reply/serialized-json.ts";
import { slowJsonStream } from "../reply/slow-json.ts";
import type { Exchange } from "./exchange.ts";

interface Answer {
  readonly status: number;
  readonly content: ResponseContent;
}

type Query = Readonly<Record<string, unknown>>;

export class Replies {
  readonly #operationId: string;
  readonly #answers: readonly Answer[];
  /** For results with a body. */
  readonly #main: Answer;
  readonly #bodiless: Answer | undefined;
  readonly #heartbeatMs: number;

  /** @throws {TypeError} if the endpoint declares no response. */
  constructor({ operationId, responses }: Endpoint, heartbeatMs: number) {
    this.#operationId = operationId;
    this.#answers = Object.entries(responses).map(([status, content]) => ({ status: Number(status), content }));
    this.#bodiless = this.#answers.find(({ content }) => content.kind === "empty");
    const main = this.#answers.find(({ content }) => content.kind !== "empty") ?? this.#bodiless;
    if (main === undefined) throw new TypeError(`${operationId} declares no response.`);
    this.#main = main;
    this.#heartbeatMs = heartbeatMs;
  }

  get streamsEvents(): boolean {
    return this.#main.content.kind === "events";
  }

  /** @throws {TypeError} if the result does not fit the endpoint. @throws the error of a stream that fails at once. */
  async of(result: unknown, query: Query, exchange: Exchange<unknown>): Promise<Reply> {
    if (!isStatusReply(result))
      return this.#write((result === undefined ? this.#bodiless : undefined) ?? this.#main, result, query, exchange);
    const { retryAfterSeconds, value } = result;
    const chosen = this.#answers.find(({ status }) => status === result.status);
    if (chosen === undefined) throw new TypeError(`${this.#operationId} declares no status ${String(result.status)}.`);
    const reply = await this.#write(chosen, value, query, exchange);
    return retryAfterSeconds === undefined
      ? reply
      : { ...reply, headers: { ...reply.headers, "retry-after": String(Math.max(0, Math.ceil(retryAfterSeconds))) } };
  }

  #write(
    { content, status }: Answer,
    result: unknown,
    query: Query,
    { request, response }: Exchange<unknown>,
  ): Reply | Promise<Reply> {
    // `Handler` types the result as the declared content.
    switch (content.kind) {
      case "json": {
        const file = otherBytes(result);
        if (file !== undefined) return bytesInstead(status, content, file);
        const stream = slowJsonStream(result);
        return stream === undefined
          ? { kind: "text", status, headers: jsonHeaders, text: textOf(result) }
          : { kind: "bytes", status, headers: slowJsonHeaders, bytes: { stream } };
      }
      case "page": {
        const { hasMore, items, nextOffset } = result as Page<unknown>;
        return { kind: "text", status, headers: pageHeaders(query, hasMore, nextOffset), text: textOf(items) };
      }
      case "tokenPage": {
        const { items, nextPageToken } = result as TokenPage<unknown>;
        return { kind: "text", status, headers: tokenPageHeaders(query, nextPageToken), text: textOf(items) };
      }
      case "empty":
        return { kind: "text", status, headers: {}, text: undefined };
      case "bytes": {
        const bytes = result as BytesReply;
        const headers = bytesHeaders(content, bytes);
        return whenReadable(bytes.stream, response).then(() => ({ kind: "bytes", status, headers, bytes }));
      }
      case "events":
        return {
          kind: "events",
          status,
          headers: eventHeaders,
          events: result as AsyncIterable<StreamFrame<unknown>>,
          marks: marksFor(request),
          heartbeatMs: this.#heartbeatMs,
        };
    }
  }
}

// A proxy that buffers the answer would delay its headers.
const slowJsonHeaders: OutgoingHttpHeaders = { ...jsonHeaders, "x-accel-buffering": "no" };

function textOf(value: unknown): string | Buffer {
  const text = serializedBytes(value) ?? (JSON.stringify(value) as string | undefined);
  if (text === undefined) throw new TypeError("A handler returned nothing where the contract declares JSON.");
  return text;
}

function pageHeaders(
  query: { readonly limit?: unknown; readonly offset?: unknown },
  hasMore: boolean,
  nextOffset: number | undefined,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ...jsonHeaders, "x-has-more": hasMore ? "true" : "false" };
  if (typeof query.limit === "number") headers["x-limit"] = String(query.limit);
  if (typeof query.offset === "number") headers["x-offset"] = String(query.offset);
  // Clients of generated SDKs cannot read a page without it; 0 ends the list for all of them.
  headers["x-next-offset"] = String(nextOffset ?? 0);
  return headers;
}

function tokenPageHeaders(query: { readonly limit?: unknown }, nextPageToken: string | undefined): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ...jsonHeaders, "x-has-more": nextPageToken === undefined ? "false" : "true" };
  if (typeof query.limit === "number") headers["x-limit"] = String(query.limit);
  if (nextPageToken !== undefined) headers["x-next-page-token"] = nextPageToken;
  return headers;
}

/** Others may have written the bytes: a browser must not run them on the origin of the service, or guess their type. */
const neverPage: OutgoingHttpHeaders = { "content-security-policy": "sandbox", "x-content-type-options": "nosniff" };

/** @throws {TypeError} for a type or header that the endpoint does not declare. */
function bytesHeaders(
  { contentType, headers: declared = [] }: BytesContent,
  { contentType: given = contentType, fileName, headers: further = {}, sizeBytes, stream }: BytesReply,
): OutgoingHttpHeaders {
  if (given !== contentType && !(contentType.endsWith("/*") && given.startsWith(contentType.slice(0, -1)))) {
    stream.destroy();
    throw new TypeError(`A handler gave the type ${given}, and its endpoint declares ${contentType}.`);
  }
  const headers: OutgoingHttpHeaders = { "content-type": given, ...neverPage };
  if (sizeBytes !== undefined) headers["content-length"] = String(sizeBytes);
  if (fileName !== undefined) headers["content-disposition"] = contentDisposition(fileName);
  for (const [name, value] of Object.entries(further)) {
    if (!declared.some((known) => known.toLowerCase() === name)) {
      stream.destroy();
      throw new TypeError(`A handler gave the header ${name}, which its endpoint does not declare.`);
    }
    headers[name] = value;
  }
  return headers;
}

function bytesInstead(status: number, { alsoTypes = [] }: JsonContent, bytes: BytesReply): Reply {
  const { contentType = "" } = bytes;
  const declared = alsoTypes.find((type) => type === contentType || type === contentType.replace(/\/.*/, "/*"));
  const headers = bytesHeaders({ kind: "bytes", contentType: declared ?? "" }, bytes);
  return { kind: "bytes", status, headers: { ...headers, vary: "accept" }, bytes };
}

function marksFor(request: IncomingMessage): ReadonlySet<string> {
  const asked = request.headers["x-shoal-stream"];
  return new Set(typeof asked === "string" ? asked.split(",").map((word) => word.trim()) : []);
}
