import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import type { BrowserEndpoint } from "../../browser/chromium/browser.ts";

/** Longest head of the browser's answer in bytes; it sends about 130. */
const maxHeadBytes = 16_384;
const connectTimeoutMs = 10_000;

export interface BrowserConnection {
  /** Paused. */
  readonly socket: Socket;
  /** Bytes received after the handshake. */
  readonly rest: Buffer;
  /** The browser's `Sec-WebSocket-Accept`: with the client's key, instances need not load `node:crypto`. */
  readonly accept: string;
}

/** Sends own Host and Origin headers, because Chromium rejects unknown ones. `request`: a validated upgrade. */
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
        fail(new Error(`the browser rejected the connection: ${answer.slice(0, 200)}`));
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
