import { CertificateAuthority } from "@shoal/primitives/certificates";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { readRequest, type Reply, type SiteRequest } from "./exchange.ts";

/** Answers the requests of one host name. */
export interface Host {
  readonly host: string;
  answer(request: SiteRequest): Reply | Promise<Reply>;
}

/** An HTTP proxy on loopback behind which each host name is a site with TLS. Other names answer 502. */
export class Front {
  readonly #authority = new CertificateAuthority("Shoal test sites");
  readonly #hosts: ReadonlyMap<string, Host>;
  readonly #offline = new Set<string>();
  readonly #sockets = new Set<Duplex>();
  readonly #sites = createServer((message, response) => void this.#answer(message, response));
  readonly #proxy = createServer((message, response) => {
    // Browsers without stored HSTS state start with http. A tunnel to port 80 carries paths instead of URLs.
    const url = URL.parse(message.url ?? "", `http://${message.headers.host ?? ""}`);
    if (url === null || !this.#hosts.has(url.hostname)) response.writeHead(502).end();
    else response.writeHead(308, { location: url.href.replace(/^http:/, "https:") }).end();
  });

  constructor(hosts: readonly Host[]) {
    this.#hosts = new Map(hosts.map((site) => [site.host, site]));
    this.#proxy.on("connection", (socket: Duplex) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    this.#proxy.on("connect", (request, socket: Duplex) => {
      this.#connect(request.url ?? "", socket);
    });
  }

  async start(): Promise<void> {
    await once(this.#proxy.listen(0, "127.0.0.1"), "listening");
  }

  get port(): number {
    return (this.#proxy.address() as AddressInfo).port;
  }

  get certificate(): string {
    return this.#authority.certificate;
  }

  /** Refuses connections to a host until it is online again. */
  setOnline(host: string, isOnline: boolean): void {
    if (isOnline) this.#offline.delete(host);
    else this.#offline.add(host);
  }

  async close(): Promise<void> {
    const closed = once(this.#proxy, "close");
    this.#proxy.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #connect(target: string, socket: Duplex): void {
    socket.on("error", () => undefined);
    const [, host = "", port] = /^(.*):(\d+)$/.exec(target) ?? [];
    if (!this.#hosts.has(host) || this.#offline.has(host)) {
      socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
      return;
    }
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    if (port === "80") {
      this.#proxy.emit("connection", socket);
      return;
    }
    const opened = new TLSSocket(socket, { isServer: true, secureContext: this.#authority.contextFor(host) });
    opened.on("error", () => socket.destroy());
    this.#sites.emit("connection", opened);
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const host = message.headers.host ?? "";
      const site = this.#hosts.get(host);
      if (site === undefined || this.#offline.has(host)) {
        message.socket.destroy();
        return;
      }
      const { status, headers, cookies, body } = await site.answer(await readRequest(message, host));
      response
        .writeHead(status, {
          "cache-control": "no-store",
          "referrer-policy": "same-origin",
          ...headers,
          ...(cookies.length > 0 && { "set-cookie": [...cookies] }),
        })
        .end(message.method === "HEAD" ? undefined : body);
    } catch (error) {
      response.writeHead(500, { "content-type": "text/plain" }).end(String(error));
    }
  }
}
