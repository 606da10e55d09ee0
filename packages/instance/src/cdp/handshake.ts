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
  if (!/^[A-Za-z0-9+/]{22}==$/.test(request.headers["sec-websocket-key"] ?? "")) return "Sec-WebSocket-Key must be 16 bytes in base64";
  return undefined;
}

/**
 * The answer that turns a checked request's connection into a WebSocket. No extension is agreed on: Chromium's messages go through unchanged.
 *
 * @param accept - see {@link BrowserConnection.accept}.
 */
export function acceptUpgrade(accept: string): string {
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
}

/** A CDP WebSocket of the browser. */
export interface BrowserConnection {
  /** Paused. */
  readonly socket: Socket;
  /** What came after the handshake. */
  readonly rest: Buffer;
  /** The browser's `Sec-WebSocket-Accept`. It is asked with the client's key, which spares each instance to load `node:crypto`. */
  readonly accept: string;
}

/**
 * Opens a CDP WebSocket to the browser. Host and Origin are our own: Chromium refuses names and pages that it does not know.
 *
 * @param request - the client's, checked.
 */
export function connectBrowser(endpoint: BrowserEndpoint, request: IncomingMessage): Promise<BrowserConnection> {
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
      const answer = head.toString("latin1", 0, end);
      const accept = /^Sec-WebSocket-Accept: *(\S+) *$/im.exec(answer)?.[1];
      if (!answer.startsWith("HTTP/1.1 101 ") || accept === undefined) {
        fail(new Error(`the browser refused the connection: ${answer.slice(0, 200)}`));
        return;
      }
      clearTimeout(timer);
      socket.pause();
      socket.off("data", onData).off("error", fail).off("close", onClose);
      resolve({ socket, rest: head.subarray(end + 4), accept });
    }
    socket.on("data", onData).on("error", fail).on("close", onClose);
    socket.write(
      `GET ${endpoint.path} HTTP/1.1\r\nHost: 127.0.0.1:${String(endpoint.port)}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Key: ${request.headers["sec-websocket-key"] ?? ""}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    );
  });
}
