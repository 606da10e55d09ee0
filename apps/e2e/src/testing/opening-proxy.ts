import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { readCertificate } from "./certificate.ts";

/** An HTTP proxy that opens TLS, as corporate ones and mitmproxy do: it answers for every site itself, with a certificate of its own. */
export interface OpeningProxy {
  readonly host: string;
  readonly port: number;
  /** `host:port` of the tunnels that were asked for. */
  readonly asked: string[];
  close(): void;
}

/** The certificates that are shown for a name, the site's own first; for every other name, one that the authority has signed for `site.test` alone. */
const shown: Readonly<Record<string, string>> = {
  "expired.test": readCertificate("expired.pem"),
  "foreign.test": readCertificate("foreign.pem"),
  // Anybody can put the authority's certificate beside one that it has not signed.
  "forged.test": readCertificate("foreign.pem") + readCertificate("authority.pem"),
};
const signed = readCertificate("site.pem");
const key = readCertificate("leaf.key");

/** @param options.tls - whether it is itself spoken to inside TLS, with a certificate of the authority. */
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
