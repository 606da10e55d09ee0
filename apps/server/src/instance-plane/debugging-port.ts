import { answerText, type Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { noAnswer } from "../browsers/session-errors.ts";
import { untrustedContent } from "./forwarded-headers.ts";
import { pathInside } from "./session-token.ts";

/** Where a session's WebSockets are. */
export interface SessionSockets {
  /** `ws://127.0.0.1:7777/browsers/{id}` */
  readonly url: string;
  /** Opens them. The instance never gets it. */
  readonly token: string;
  readonly sessionId: string;
}

/** About 500 pages. */
const maxDocumentCharacters = 262_144;
const documents = /^\/json(?:\/(?:version|list|new))?\/?(?:\?|$)/;

function unusable(cause?: unknown): ServiceError {
  return new ServiceError(
    502,
    "bad_gateway",
    "The session's instance did not answer with a list of its pages. Look at the session with browsers.get.",
    {
      cause,
    },
  );
}

/** A document of the debugging port with addresses that are made here: the instance's own could lead anywhere, with the token. */
function withAddresses(value: unknown, { url, token }: SessionSockets): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { devtoolsFrontendUrl: _frontend, webSocketDebuggerUrl, ...fields } = value as Readonly<Record<string, unknown>>;
  const { id } = fields;
  if (typeof webSocketDebuggerUrl !== "string") return fields;
  const path = typeof id === "string" && /^\w{1,100}$/.test(id) ? `devtools/page/${id}` : "cdp";
  return { ...fields, webSocketDebuggerUrl: `${url}/${path}?jwt=${token}` };
}

/** Whether an address below `/browsers/{id}` asks for a document with addresses in it. */
export function isAddressDocument(url: string): boolean {
  return documents.test(pathInside(url));
}

/** For what else a debugging port answers: the protocol, and whether a page was closed. */
export function answerHeadersOfPort({ "content-length": length, "content-type": type = "" }: IncomingHttpHeaders): OutgoingHttpHeaders {
  const isJson = /^application\/json(?:;|$)/i.test(type);
  return {
    ...untrustedContent,
    ...(length !== undefined && { "content-length": length }),
    "content-type": `${isJson ? "application/json" : "text/plain"}; charset=utf-8`,
    "cache-control": "no-store",
  };
}

/**
 * Answers `/json/version`, `/json/list` and `/json/new` with the session's own addresses.
 *
 * @throws {ServiceError} 502 `bad_gateway` for an answer that is none of these documents.
 */
export async function answerAddressDocument(
  instance: Instance,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  sockets: SessionSockets,
): Promise<void> {
  const path = pathInside(request.raw.url ?? "");
  let answer: IncomingMessage;
  let text: string;
  try {
    answer = await instance.request({ method: request.method, path, headers: { "x-request-id": request.id } });
    text = await answerText(answer);
  } catch (error) {
    throw noAnswer(error, sockets.sessionId);
  }
  const status = answer.statusCode ?? 502;
  if (status === 200) text = rewritten(text, sockets);
  await reply
    .code(status)
    .headers(answerHeadersOfPort({ "content-type": "application/json" }))
    .send(text);
}

function rewritten(text: string, sockets: SessionSockets): string {
  if (text.length > maxDocumentCharacters) throw unusable();
  try {
    const document: unknown = JSON.parse(text);
    const shown = Array.isArray(document) ? document.map((target) => withAddresses(target, sockets)) : withAddresses(document, sockets);
    return JSON.stringify(shown, undefined, 2);
  } catch (error) {
    throw unusable(error);
  }
}
