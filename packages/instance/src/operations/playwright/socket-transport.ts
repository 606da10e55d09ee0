import type { ConnectOverCDPTransport } from "playwright-core";
import { WebSocket } from "ws";

const maxMessageBytes = 256 * 2 ** 20;
const handshakeTimeoutMs = 45_000;

/** Connects Playwright to an address of CDP. */
export async function connectTransport(address: string): Promise<ConnectOverCDPTransport> {
  const socket = new WebSocket(address, {
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    handshakeTimeout: handshakeTimeoutMs,
  });
  const transport: ConnectOverCDPTransport = {
    send(message) {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    },
    close() {
      socket.close();
    },
  };
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => undefined);
  socket.on("message", (data: Buffer) => {
    transport.onmessage?.(JSON.parse(data.toString()) as object);
  });
  socket.on("close", (_code, reason) => {
    transport.onclose?.(reason.toString());
  });
  return transport;
}
