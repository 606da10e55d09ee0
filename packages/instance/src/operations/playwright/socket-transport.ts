import type { ConnectOverCDPTransport } from "playwright-core";
import { WebSocket } from "ws";
import { withoutProxyName } from "../../browser/cdp/sent-headers.ts";

const maxMessageBytes = 256 * 2 ** 20;
const handshakeTimeoutMs = 45_000;

/** Playwright awaits `close`: the browser has then dropped the connection's settings. */
export type SocketTransport = Omit<ConnectOverCDPTransport, "close"> & { close(): Promise<void> };

/** Connects Playwright to an address of CDP. */
export async function connectTransport(address: string): Promise<SocketTransport> {
  const socket = new WebSocket(address, {
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    handshakeTimeout: handshakeTimeoutMs,
    // Playwright adds listeners in promises after an answer: they miss an event that arrives in the same task.
    allowSynchronousEvents: false,
  });
  const closed = new Promise<void>((resolve) =>
    socket.once("close", () => {
      resolve();
    }),
  );
  const transport: SocketTransport = {
    send(message) {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    },
    close() {
      socket.close();
      return closed;
    },
  };
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => undefined);
  socket.on("message", (data: Buffer) => {
    transport.onmessage?.(JSON.parse(withoutProxyName(data).toString()) as object);
  });
  socket.on("close", (_code, reason) => {
    transport.onclose?.(reason.toString());
  });
  return transport;
}
