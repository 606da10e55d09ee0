import type { ServiceError } from "@shoal/router";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { statusForForeigners } from "../../http/foreign-status.ts";

const lingerMs = 5_000;

/**
 * Discards later data of the client, or the system would reset the connection before the client reads the answer.
 * @param how.isPlain - answers a sentence, which clients show to people, instead of the error as JSON.
 */
export function refuseUpgrade(
  socket: Duplex,
  error: ServiceError,
  { isPlain, requestId }: { readonly requestId: string; readonly isPlain: boolean },
): void {
  const text = isPlain ? `${error.message}\n` : JSON.stringify(error.toBody());
  const status = isPlain ? statusForForeigners(error.status) : error.status;
  const lines = [
    `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? "Error"}`,
    `Content-Type: ${isPlain ? "text/plain" : "application/json"}; charset=utf-8`,
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
