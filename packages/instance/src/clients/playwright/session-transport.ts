import type { ConnectOverCDPTransport } from "playwright-core";
import { WebSocket } from "ws";

const maxMessageBytes = 256 * 2 ** 20;
const handshakeTimeoutMs = 45_000;

interface Command {
  readonly method?: string;
  readonly params?: { readonly files?: unknown; readonly downloadPath?: unknown };
}

/** Connects to the session's CDP gateway, which expects API paths: Playwright names its own files by paths of the host. */
export async function connectSession(address: string, root: string): Promise<ConnectOverCDPTransport> {
  const socket = new WebSocket(address, {
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    handshakeTimeout: handshakeTimeoutMs,
  });
  const transport: ConnectOverCDPTransport = {
    send(message) {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(withApiPaths(message, root)));
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

function withApiPaths(message: object, root: string): object {
  if (root === "/") return message;
  const { method, params } = message as Command;
  const apiPath = (path: unknown) =>
    typeof path === "string" && path.startsWith(`${root}/`) ? path.slice(root.length) : path;
  if (method === "DOM.setFileInputFiles" && Array.isArray(params?.files))
    return { ...message, params: { ...params, files: params.files.map(apiPath) } };
  if (method === "Browser.setDownloadBehavior")
    return { ...message, params: { ...params, downloadPath: apiPath(params?.downloadPath) } };
  return message;
}
