import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, Socket } from "node:net";
import type { BrowserEndpoint } from "../../browser/chromium/browser.ts";
import type { CdpGateway } from "../cdp/gateway.ts";
import { askBrowser } from "../cdp/json-endpoints.ts";

const documents = ["/json/version", "/json/list"];

export interface DriverDoorOptions {
  readonly gateway: Pick<CdpGateway, "upgrade">;
  endpoint(): Promise<BrowserEndpoint>;
}

/**
 * A debugging port for the driver, in front of the session's CDP gateway: commands of the driver obey the same rules as
 * those of other CDP clients.
 */
export class DriverDoor {
  readonly #options: DriverDoorOptions;
  readonly #server: Server;

  constructor(options: DriverDoorOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      void this.#answer(request, response);
    });
    this.#server.on("upgrade", (request, socket, head) => {
      if (this.#isOwn(request) && request.url?.startsWith("/devtools/") === true && socket instanceof Socket)
        options.gateway.upgrade(request, socket, head);
      else socket.destroy();
    });
  }

  async open(): Promise<void> {
    const listening = Promise.withResolvers<void>();
    this.#server.once("error", listening.reject).listen(0, "127.0.0.1", listening.resolve);
    await listening.promise;
  }

  get address(): string {
    return `127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Pages name another host, or their origin. The driver opens WebSockets without the port in `Host`. */
  #isOwn({ headers }: IncomingMessage): boolean {
    return /^127\.0\.0\.1(?::|$)/.test(headers.host ?? "") && headers.origin === undefined;
  }

  /** The driver reads the version here, and whether the browser has a page. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume();
    const { url = "" } = request;
    if (request.method !== "GET" || !documents.includes(url) || !this.#isOwn(request)) {
      response.writeHead(404).end();
      return;
    }
    try {
      const { port } = await this.#options.endpoint();
      const raw = `127.0.0.1:${String(port)}`;
      const document = (await askBrowser(port, "GET", url)).body.replaceAll(raw, this.address);
      response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(document) });
      response.end(document);
    } catch {
      response.destroy();
    }
  }
}
