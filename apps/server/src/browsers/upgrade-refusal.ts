import type { ServiceError } from "@shoal/router";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

/** How long a client may take to read a refusal and close. */
const lingerMs = 5_000;

/**
 * Answers an upgrade with an error and ends its connection, which carries no further request: what the client has already sent after
 * the handshake is read and dropped, or the system would reset the connection before the answer is read.
 */
export function refuseUpgrade(socket: Duplex, error: ServiceError, requestId: string): void {
  const text = JSON.stringify(error.toBody());
  const lines = [
    `HTTP/1.1 ${String(error.status)} ${STATUS_CODES[error.status] ?? "Error"}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${String(Buffer.byteLength(text))}`,
    `X-Request-Id: ${requestId}`,
    ...(error.retryAfterSeconds === undefined ? [] : [`Retry-After: ${String(error.retryAfterSeconds)}`]),
    "Connection: close",
  ];
  const lingering = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once("close", () => {
    clearTimeout(lingering);
  });
  socket.resume();
  socket.end(`${lines.join("\r\n")}\r\n\r\n${text}`);
}
