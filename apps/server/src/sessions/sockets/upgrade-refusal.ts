import type { ServiceError } from "@shoal/router";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

const lingerMs = 5_000;

/** Discards later data of the client, or the system would reset the connection before the client reads the answer. */
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
