import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type RawData, type ServerOptions, type WebSocket, WebSocketServer } from "ws";

const closeTimeoutMs = 2_000;

/** Completes a handshake that `checkUpgrade` accepted. Longer messages close the connection with 1009. */
export function acceptWebSocket(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  maxMessageBytes: number,
): WebSocket {
  const options: ServerOptions & { readonly closeTimeout: number } = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    closeTimeout: closeTimeoutMs,
  };
  let accepted: WebSocket | undefined;
  new WebSocketServer(options).handleUpgrade(request, socket, head, (websocket) => {
    accepted = websocket;
  });
  if (accepted === undefined) throw new Error("the WebSocket handshake failed");
  // The library closes the connection with the right code after a violation of the protocol.
  accepted.on("error", () => undefined);
  socket.setNoDelay(true);
  return accepted;
}

export function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
