import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** A web site on a free port of this machine, for browsers to visit. */
export interface Site {
  /** `127.0.0.1:PORT`, what `--allow-private-hosts` takes. */
  readonly host: string;
  readonly url: string;
  close(): Promise<void>;
}

/** Serves a site; without a listener, a page whose title is the path. */
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
