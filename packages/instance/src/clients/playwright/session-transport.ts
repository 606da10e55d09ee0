import type { ConnectOverCDPTransport } from "playwright-core";
import { connectTransport } from "../../operations/playwright/socket-transport.ts";

interface Command {
  readonly method?: string;
  readonly params?: { readonly files?: unknown; readonly downloadPath?: unknown };
}

/** Connects to the session's CDP gateway, which expects API paths: Playwright names its own files by paths of the host. */
export async function connectSession(address: string, root: string): Promise<ConnectOverCDPTransport> {
  const transport = await connectTransport(address);
  const send = transport.send.bind(transport);
  transport.send = (message) => {
    send(withApiPaths(message, root));
  };
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
