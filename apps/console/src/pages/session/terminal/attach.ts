import type { Shoal } from "@shoal/client";
import type { Terminal } from "@xterm/xterm";
import { serviceUrl } from "../../../base/place.ts";

const shell = { command: "/bin/sh", args: ["-c", "command -v bash >/dev/null && exec bash; exec sh"] };

export async function startShell(
  shoal: Shoal,
  id: string,
  size: { readonly cols: number; readonly rows: number },
  signal: AbortSignal,
): Promise<string> {
  const { process_id } = await shoal.browsers.process.spawn(
    id,
    { ...shell, allocate_tty: true, env: { TERM: "xterm-256color" }, ...size },
    { signal },
  );
  return process_id;
}

/**
 * At the origin of the console, unless session content has a separate origin: the service may name another host than
 * the person used, which the security policy refuses.
 */
function socketAddress(cdpUrl: string, processId: string): URL {
  const url = new URL(cdpUrl);
  url.pathname = url.pathname.replace(/\/cdp$/, `/process/${processId}/attach`);
  const service = new URL(serviceUrl);
  url.protocol = service.protocol === "https:" ? "wss:" : "ws:";
  url.host = service.host;
  return url;
}

interface AttachOptions {
  readonly signal: AbortSignal;
  readonly onOpen: () => void;
  readonly onClose: () => void;
}

/** Connects a terminal to the process until the signal aborts or the process exits. */
export function attach(
  terminal: Terminal,
  cdpUrl: string,
  processId: string,
  { signal, onOpen, onClose }: AttachOptions,
): void {
  if (signal.aborted) return;
  const socket = new WebSocket(socketAddress(cdpUrl, processId));
  socket.binaryType = "arraybuffer";
  const encoder = new TextEncoder();
  const sendSize = () => {
    if (socket.readyState === WebSocket.OPEN)
      socket.send(JSON.stringify({ type: "resize", cols: terminal.cols, rows: terminal.rows }));
  };
  const listening = [
    terminal.onData((keys) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(encoder.encode(keys));
    }),
    terminal.onResize(sendSize),
  ];
  socket.addEventListener("open", () => {
    // Also when the page closes or the network fails.
    socket.send(JSON.stringify({ type: "end_with_connection" }));
    sendSize();
    onOpen();
  });
  socket.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    if (data instanceof ArrayBuffer) terminal.write(new Uint8Array(data));
  });
  socket.addEventListener("close", () => {
    for (const listener of listening) listener.dispose();
    if (!signal.aborted) onClose();
  });
  signal.addEventListener("abort", () => {
    socket.close(1000);
  });
}
