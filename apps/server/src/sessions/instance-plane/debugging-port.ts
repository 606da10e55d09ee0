import { answerText, type Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { noAnswer } from "./no-answer.ts";
import { untrustedContent } from "./forwarded-headers.ts";
import { pathInside } from "../../http/auth/session-path.ts";

export interface SessionSockets {
  readonly url: string;
  /** Never sent to the instance. */
  readonly token: string;
  readonly sessionId: string;
}

/** About 500 pages. */
const maxDocumentCharacters = 262_144;
const answerMs = 30_000;
const documents = /^\/json(?:\/(?:version|list|new))?\/?(?:\?|$)/;

function unusable(cause?: unknown): ServiceError {
  return new ServiceError(502, "bad_gateway", "The session's instance did not answer with a list of its pages.", {
    hint: "Inspect the session with browsers.get.",
    cause,
  });
}

/** Replaces all URLs, because URLs of the instance could send the token anywhere. */
function withAddresses(value: unknown, { url, token }: SessionSockets): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const {
    devtoolsFrontendUrl: _frontend,
    webSocketDebuggerUrl,
    ...fields
  } = value as Readonly<Record<string, unknown>>;
  const { id } = fields;
  if (typeof webSocketDebuggerUrl !== "string") return fields;
  const path = typeof id === "string" && /^\w{1,100}$/.test(id) ? `devtools/page/${id}` : "cdp";
  return { ...fields, webSocketDebuggerUrl: `${url}/${path}?jwt=${token}` };
}

export function isAddressDocument(url: string): boolean {
  return documents.test(pathInside(url));
}

export function answerHeadersOfPort({
  "content-length": length,
  "content-type": type = "",
}: IncomingHttpHeaders): OutgoingHttpHeaders {
  const isJson = /^application\/json(?:;|$)/i.test(type);
  return {
    ...untrustedContent,
    ...(length !== undefined && { "content-length": length }),
    "content-type": `${isJson ? "application/json" : "text/plain"}; charset=utf-8`,
    "cache-control": "no-store",
  };
}

/** The answers have URLs of this service. @throws {ServiceError} 502 `bad_gateway` for an invalid document. */
export async function answerAddressDocument(
  instance: Instance,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  sockets: SessionSockets,
): Promise<void> {
  const path = pathInside(request.raw.url ?? "");
  let answer: IncomingMessage;
  let text: string;
  try {
    const headers = { "x-request-id": request.id };
    answer = await instance.request({ method: request.method, path, headers, signal: AbortSignal.timeout(answerMs) });
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
    const shown = Array.isArray(document)
      ? document.map((target) => withAddresses(target, sockets))
      : withAddresses(document, sockets);
    return JSON.stringify(shown, undefined, 2);
  } catch (error) {
    throw unusable(error);
  }
}
