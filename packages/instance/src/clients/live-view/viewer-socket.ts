import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { acceptWebSocket, bytesOf } from "../../http/websocket.ts";
import { maxViewerMessageBytes } from "./messages.ts";

/** Viewers that vanished without a close frame must not keep the session in use. */
const pingMs = 15_000;
const maxUnansweredPings = 3;
/** Viewers that leave more than this unread are disconnected. */
const maxWaitingBytes = 8 * 2 ** 20;

export interface ViewerSocket {
  readonly waitingBytes: number;
  sendText(text: string): void;
  sendBinary(bytes: Buffer): void;
  /** @param reason - at most 123 bytes. */
  close(code: number, reason: string): void;
}

export interface ViewerSocketSink {
  message(text: string): void;
  closed(): void;
}

export function acceptViewer(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  sink: ViewerSocketSink,
): ViewerSocket {
  const viewer = acceptWebSocket(request, socket, head, maxViewerMessageBytes);
  let unansweredPings = 0;
  const pings = setInterval(() => {
    if (unansweredPings++ >= maxUnansweredPings) viewer.terminate();
    else if (viewer.readyState === viewer.OPEN) viewer.ping();
  }, pingMs);

  socket.on("data", () => {
    unansweredPings = 0;
  });
  viewer.on("message", (data, isBinary) => {
    if (viewer.readyState !== viewer.OPEN) return;
    if (isBinary) viewer.close(1003, "messages of viewers must be text");
    else sink.message(bytesOf(data).toString());
  });
  viewer.on("close", () => {
    clearInterval(pings);
    sink.closed();
  });

  function send(message: string | Buffer): void {
    if (viewer.readyState !== viewer.OPEN) return;
    if (viewer.bufferedAmount > maxWaitingBytes) viewer.terminate();
    else viewer.send(message);
  }

  return {
    get waitingBytes() {
      return viewer.bufferedAmount;
    },
    sendText: send,
    sendBinary: send,
    close(code, reason) {
      viewer.close(code, reason);
    },
  };
}
