import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

export interface Site {
  /** `127.0.0.1:PORT`, for `--allow-private-hosts`. */
  readonly host: string;
  readonly url: string;
  close(): Promise<void>;
}

/** Serves a site; without a listener, pages with their path as title. */
export async function serveSite(listener?: RequestListener): Promise<Site> {
  const server = createServer(
    listener ??
      ((request, response) => {
        response
          .writeHead(200, { "content-type": "text/html; charset=utf-8" })
          .end(`<!doctype html><title>${(request.url ?? "").replace(/[^\w/-]/g, "")}</title><h1>hello</h1>`);
      }),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    host,
    url: `http://${host}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
