import type { IncomingMessage } from "node:http";

/** Checks a WebSocket handshake (RFC 6455). Returns the problem, if any. */
export function checkUpgrade(request: IncomingMessage): string | undefined {
  if (request.headers.upgrade?.toLowerCase() !== "websocket") return "Upgrade must be websocket";
  if (request.headers["sec-websocket-version"] !== "13") return "Sec-WebSocket-Version must be 13";
  if (!/^[A-Za-z0-9+/]{22}==$/.test(request.headers["sec-websocket-key"] ?? ""))
    return "Sec-WebSocket-Key must be 16 bytes in base64";
  return undefined;
}

/** Accepts a checked handshake without extensions, so that Chromium's messages pass through unchanged. */
export function acceptUpgrade(accept: string): string {
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
}
