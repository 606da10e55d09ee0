import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pageHtml } from "./page.ts";

/** The running server of the bench page. */
export interface BenchSite {
  /** Name and port. */
  readonly host: string;
  readonly url: string;
  /** Stops the server. */
  close(): void;
}

/** Serves the page of the bench on this machine. */
export async function serveSite(): Promise<BenchSite> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(pageHtml);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    host,
    url: `http://${host}/`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The same page without a network, for services that may not reach this machine. */
export const dataUrl = `data:text/html;charset=utf-8,${encodeURIComponent(pageHtml)}`;
