import { readAtMost } from "@shoal/primitives/node";
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface Refusal {
  readonly status: number;
  readonly code: string;
  /** Starts with `field` and ends with `hint`. */
  readonly message: string;
  readonly field?: string | undefined;
  readonly limit?: number | string | undefined;
  readonly hint?: string | undefined;
}

export function reply(response: ServerResponse, status: number, body?: object): void {
  if (body === undefined) {
    response.writeHead(status).end();
    return;
  }
  const text = JSON.stringify(body);
  response
    .writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
    .end(text);
}

export function refuse(response: ServerResponse, refusal: Refusal): void {
  const { status } = refusal;
  if (status === 409 || status === 501) response.setHeader("x-should-retry", "false");
  reply(response, status, bodyOf(refusal));
}

export function refuseUpgrade(request: IncomingMessage, socket: Socket, refusal: Refusal): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { status } = refusal;
  const text = JSON.stringify(bodyOf(refusal));
  const id = request.headers["x-request-id"];
  const headers = [
    "Content-Type: application/json",
    `Content-Length: ${String(Buffer.byteLength(text))}`,
    ...(typeof id === "string" && /^[\w.-]{1,64}$/.test(id) ? [`X-Request-Id: ${id}`] : []),
    "Connection: close",
  ];
  socket.end(
    `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ""}\r\n${headers.join("\r\n")}\r\n\r\n${text}`,
    () => {
      socket.destroy();
    },
  );
}

/** JSON omits absent fields. */
function bodyOf({ code, message, field, limit, hint }: Refusal): object {
  return { code, message, field, limit, hint };
}

export function pathOf(request: IncomingMessage): string {
  return splitUrl(request.url ?? "/").path;
}

/** The query may contain question marks, as the address in `/json/new?http://a.example/?b`. */
export function splitUrl(url: string): { readonly path: string; readonly query: string } {
  const question = url.indexOf("?");
  return question === -1 ? { path: url, query: "" } : { path: url.slice(0, question), query: url.slice(question + 1) };
}

/** Returns `undefined` when the body is longer than `maxBytes` or incomplete. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  return readAtMost(request, maxBytes).catch(() => undefined);
}
