import { WebSocket } from "ws";
import type { BrowserEndpoint } from "../chromium/browser.ts";
import { ContextGateway } from "./context-gateway.ts";
import type { ContextScope } from "./context-scope.ts";

export interface ContextClientOptions {
  readonly scope: ContextScope;
  /** Of the shared browser. */
  readonly endpoint: BrowserEndpoint;
  /** Connects to this page only. */
  readonly pageId?: string | undefined;
  readonly onMessage: (message: string) => void;
  /** Called once. */
  readonly onClosed: (reason: string) => void;
}

const connectTimeoutMs = 10_000;
/** The limit of Chromium's debugging port. */
const maxBrowserMessageBytes = 256 * 2 ** 20;

/**
 * One CDP client of a session. It has its own connection to the shared browser, because Chromium scopes sessions,
 * settings and events by connection.
 */
export class ContextClient {
  readonly #gateway: ContextGateway;
  readonly #socket: WebSocket;
  readonly #onClosed: (reason: string) => void;
  #early: string[] | undefined = [];
  #isClosed = false;

  constructor({ endpoint, onClosed, onMessage, pageId, scope }: ContextClientOptions) {
    this.#onClosed = onClosed;
    this.#gateway = new ContextGateway({
      scope,
      toBrowser: (message) => {
        this.#toBrowser(message);
      },
      toClient: onMessage,
      onExcess: (reason) => {
        this.close(reason);
      },
    });
    this.#socket = new WebSocket(`ws://127.0.0.1:${String(endpoint.port)}${endpoint.path}`, {
      perMessageDeflate: false,
      maxPayload: maxBrowserMessageBytes,
      handshakeTimeout: connectTimeoutMs,
    });
    this.#socket.on("open", () => {
      const early = this.#early ?? [];
      this.#early = undefined;
      for (const message of early) this.#socket.send(message);
    });
    this.#socket.on("message", (data: Buffer) => {
      if (!this.#isClosed) this.#gateway.message(data.toString());
    });
    this.#socket.on("error", () => undefined);
    if (pageId !== undefined) void this.#openPage(pageId);
    this.#socket.on("close", () => {
      this.close("the browser closed the connection");
    });
  }

  /** Takes a command of the client. */
  send(message: string): void {
    if (!this.#isClosed) this.#gateway.command(message);
  }

  /** The browser then forgets the client's sessions and settings. */
  close(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.terminate();
    this.#onClosed(reason);
  }

  async #openPage(pageId: string): Promise<void> {
    if (!(await this.#gateway.openPage(pageId))) this.close("the session has no such page");
  }

  #toBrowser(message: string): void {
    if (this.#early !== undefined) this.#early.push(message);
    else if (!this.#isClosed) this.#socket.send(message);
  }
}
