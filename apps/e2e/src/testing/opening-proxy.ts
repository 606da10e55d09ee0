import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { readCertificate } from "./certificate.ts";

/** Opens TLS like corporate proxies and mitmproxy: it answers for every site with its own certificate. */
export interface OpeningProxy {
  readonly host: string;
  readonly port: number;
  /** `host:port` of the requested tunnels. */
  readonly asked: string[];
  close(): void;
}

/** The certificates by name, the site's own first; other names get the certificate of `site.test`. */
const shown: Readonly<Record<string, string>> = {
  "expired.test": readCertificate("expired.pem"),
  "foreign.test": readCertificate("foreign.pem"),
  // Anyone can append the authority's certificate to an unrelated one.
  "forged.test": readCertificate("foreign.pem") + readCertificate("authority.pem"),
};
const signed = readCertificate("site.pem");
const key = readCertificate("leaf.key");

/** @param options.tls - whether clients connect to the proxy with TLS, with a certificate of the authority. */
export async function startOpeningProxy({ tls = false } = {}): Promise<OpeningProxy> {
  const asked: string[] = [];
  const sockets = new Set<Duplex>();
  const answer: RequestListener = (request, response) => {
    response
      .writeHead(200, { "content-type": "text/html; charset=utf-8", "set-cookie": "opened=yes; Max-Age=1000" })
      .end(`<!doctype html><title>${request.headers.host ?? ""}</title>`);
  };
  const sites = createServer(answer);
  const proxy = tls ? createTlsServer({ cert: signed, key }) : createServer();
  proxy.on("connect", (request, socket: Duplex) => {
    const target = request.url ?? "";
    asked.push(target);
    socket.on("error", () => undefined);
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    const opened = new TLSSocket(socket, { isServer: true, cert: shown[target.replace(/:\d+$/, "")] ?? signed, key });
    opened.on("error", () => socket.destroy());
    sites.emit("connection", opened);
  });
  proxy.on("connection", (socket: Duplex) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  const { port } = proxy.address() as AddressInfo;
  return {
    host: `127.0.0.1:${String(port)}`,
    port,
    asked,
    close() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
