import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import type { BrowserEndpoint } from "../chromium/browser.ts";
import { ContextClient } from "./context-client.ts";
import type { ContextJson } from "./context-json.ts";
import type { ContextScope } from "./context-scope.ts";

export interface ContextEndpointOptions {
  readonly scope: ContextScope;
  /** Of the shared browser. */
  readonly browser: BrowserEndpoint;
  readonly json: ContextJson;
  /** Unguessable: other programs of the machine must not connect. */
  readonly secret: string;
}

/** A file as the value of an input, for example. */
const maxCommandBytes = 64 * 2 ** 20;
/**
 * The browser is always read, because it may hold pages of other sessions until the gateway has answered. A client that
 * does not read is disconnected at this limit.
 */
const maxUnreadBytes = 64 * 2 ** 20;
const closeReasonBytes = 123;
const pagePath = /^\/devtools\/page\/(\w{1,100})$/;

/** A debugging port on 127.0.0.1 that shows one browser context as a whole browser. */
export class ContextEndpoint {
  readonly #options: ContextEndpointOptions;
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: maxCommandBytes });
  #port = 0;

  constructor(options: ContextEndpointOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      void this.#answer(request, response);
    });
    this.#server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
      this.#upgrade(request, socket, head);
    });
  }

  get endpoint(): BrowserEndpoint {
    return { port: this.#port, path: `/devtools/browser/${this.#options.secret}` };
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, "127.0.0.1", resolve);
    });
    const address = this.#server.address();
    if (address === null || typeof address === "string")
      throw new Error("The debugging port of a context has no number.");
    this.#port = address.port;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    for (const socket of this.#sockets.clients) socket.terminate();
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on("error", () => undefined);
    socket.setNoDelay(true);
    // The gateway in front of this port replaces the path of the browser, but not that of a page.
    const [, pageId] = pagePath.exec(request.url ?? "") ?? [];
    if (isFromPage(request)) refuse(socket, "403 Forbidden");
    else if (request.url !== this.endpoint.path && pageId === undefined) refuse(socket, "404 Not Found");
    else
      this.#sockets.handleUpgrade(request, socket, head, (accepted) => {
        this.#join(accepted, pageId);
      });
  }

  #join(socket: WebSocket, pageId: string | undefined): void {
    const { browser, scope } = this.#options;
    const client = new ContextClient({
      scope,
      endpoint: browser,
      pageId,
      onMessage: (message) => {
        if (socket.bufferedAmount > maxUnreadBytes) client.close("the client does not read its messages");
        else socket.send(message);
      },
      onClosed: (reason) => {
        socket.close(1011, reason.slice(0, closeReasonBytes));
      },
    });
    socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) client.close("CDP messages are text");
      else client.send(data.toString());
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      client.close("the client left");
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume();
    const { body, status } = isFromPage(request)
      ? { status: 403, body: "Pages must not connect" }
      : await this.#options.json
          .answer(request.method ?? "GET", request.url ?? "/")
          .catch(() => ({ status: 500, body: "The browser does not answer" }));
    const isText = typeof body === "string";
    response
      .writeHead(status, { "content-type": isText ? "text/plain" : "application/json; charset=UTF-8" })
      .end(isText ? body : JSON.stringify(body));
  }
}

/** In the process placement, the operator may let sessions reach this machine. */
function isFromPage({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined || headers["user-agent"] !== undefined;
}

function refuse(socket: Socket, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
