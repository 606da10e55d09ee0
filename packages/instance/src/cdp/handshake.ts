import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import type { BrowserEndpoint } from "../chromium/browser.ts";

/** Longest head of the browser's answer, in bytes; it sends about 130. */
const maxHeadBytes = 16_384;
const connectTimeoutMs = 10_000;

/** Whether a request is a WebSocket handshake of RFC 6455; else what is wrong with it. */
export function checkUpgrade(request: IncomingMessage): string | undefined {
  if (request.headers.upgrade?.toLowerCase() !== "websocket") return "Upgrade must be websocket";
  if (request.headers["sec-websocket-version"] !== "13") return "Sec-WebSocket-Version must be 13";
  if (Buffer.from(request.headers["sec-websocket-key"] ?? "", "base64").length !== 16) return "Sec-WebSocket-Key must be 16 bytes in base64";
  return undefined;
}

/** The answer that turns a checked request's connection into a WebSocket. No extension is agreed on: Chromium's messages go through unchanged. */
export function acceptUpgrade(request: IncomingMessage): string {
  const key = request.headers["sec-websocket-key"] ?? "";
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
}

/**
 * Opens a CDP WebSocket to the browser. Host and Origin are our own: Chromium refuses names and pages that it does not know.
 *
 * @returns the connection, paused, and what came after the handshake.
 */
export function connectBrowser(endpoint: BrowserEndpoint): Promise<{ socket: Socket; rest: Buffer }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: endpoint.port, noDelay: true });
    const timer = setTimeout(() => {
      fail(new Error("the browser did not accept a connection in time"));
    }, connectTimeoutMs);
    let head = Buffer.alloc(0);
    function fail(error: Error): void {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    }
    function onClose(): void {
      fail(new Error("the browser closed the connection"));
    }
    function onData(chunk: Buffer): void {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end === -1) {
        if (head.length > maxHeadBytes) fail(new Error("the browser's answer is too long"));
        return;
      }
      if (!head.toString("latin1", 0, end).startsWith("HTTP/1.1 101 ")) {
        fail(new Error(`the browser refused the connection: ${head.toString("latin1", 0, Math.min(end, 200))}`));
        return;
      }
      clearTimeout(timer);
      socket.pause();
      socket.off("data", onData).off("error", fail).off("close", onClose);
      resolve({ socket, rest: head.subarray(end + 4) });
    }
    socket.on("data", onData).on("error", fail).on("close", onClose);
    socket.write(
      `GET ${endpoint.path} HTTP/1.1\r\nHost: 127.0.0.1:${String(endpoint.port)}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    );
  });
}
