import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** What is wrong, as the body of every error says it. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** Answers with JSON, or with nothing at status 204. */
export function reply(response: ServerResponse, status: number, body?: object): void {
  if (body === undefined) {
    response.writeHead(status).end();
    return;
  }
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text);
}

/** Answers with an error body. */
export function refuse(response: ServerResponse, { status, code, message }: Refusal): void {
  if (status === 409 || status === 501) response.setHeader("x-should-retry", "false");
  reply(response, status, { code, message });
}

/** Answers an upgrade with an error body and ends its connection. Carries the request's id, where it has one. */
export function refuseUpgrade(request: IncomingMessage, socket: Socket, { status, code, message }: Refusal): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const text = JSON.stringify({ code, message });
  const id = request.headers["x-request-id"];
  const headers = [
    "Content-Type: application/json",
    `Content-Length: ${String(Buffer.byteLength(text))}`,
    ...(typeof id === "string" && /^[\w.-]{1,64}$/.test(id) ? [`X-Request-Id: ${id}`] : []),
    "Connection: close",
  ];
  socket.end(`HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ""}\r\n${headers.join("\r\n")}\r\n\r\n${text}`, () => {
    socket.destroy();
  });
}

/** The path of a request, without its query. */
export function pathOf(request: IncomingMessage): string {
  const url = request.url ?? "/";
  const query = url.indexOf("?");
  return query === -1 ? url : url.slice(0, query);
}

/**
 * Reads a whole body.
 *
 * @returns `undefined` when it is longer than `maxBytes`, or breaks off.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) return undefined;
      chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}
