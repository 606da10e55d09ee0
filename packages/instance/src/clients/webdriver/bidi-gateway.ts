import { messageOf } from "@shoal/primitives";
import { BidiMapper } from "chromium-bidi";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type RawData, WebSocket, WebSocketServer } from "ws";
import { ClosingPages, type ClosingPagesOptions } from "../cdp/closing-pages.ts";
import type { OpenContextProxy } from "../../egress/context-proxy.ts";
import { createCdpGuard } from "../cdp/guard.ts";
import type { BrowserEndpoint } from "../../browser/chromium/browser.ts";
import { ClientDownloads } from "../../browser/downloads/client-downloads.ts";
import type { SessionDownloads } from "../../browser/downloads/session-downloads.ts";
import { type BidiCommand, BidiSession } from "./bidi-session.ts";
import type { AutomationPause } from "../../pause/automation-pause.ts";
import { createMapperGuard, PausedCommands } from "./paused-commands.ts";
import { MapperCdp } from "./cdp-adapter.ts";

/** Maximum number of connected clients: each has a separate mapper. */
export const maxBidiClients = 16;
const maxMessageBytes = 64 * 2 ** 20;
const handshakeTimeoutMs = 10_000;
/** Of the command of this gateway, before those of the client. */
const joinId = 0;
/** Time to write the answer to `browser.close`. */
const closeDelayMs = 100;

export interface BidiGatewayOptions {
  readonly root: string;
  readonly downloads: SessionDownloads;
  endpoint(): Promise<BrowserEndpoint>;
  openContextProxy?: OpenContextProxy;
  readonly closing?: ClosingPagesOptions;
  onClient(): () => void;
  /** While a person controls the session. */
  readonly pause: AutomationPause;
  /** Whether a session of WebDriver exists, which clients join without `session.new`. */
  readonly hasDriver: () => boolean;
}

/** Each client has a separate mapper and CDP connection, so that its state ends with it. */
export class BidiGateway {
  readonly #options: BidiGatewayOptions;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, perMessageDeflate: false });
  readonly #clients = new Set<WebSocket>();

  constructor(options: BidiGatewayOptions) {
    this.#options = options;
  }

  upgrade(
    request: IncomingMessage,
    socket: Socket,
    head: Buffer,
  ): { readonly status: number; readonly code: string; readonly message: string } | undefined {
    if (this.#clients.size >= maxBidiClients)
      return {
        status: 429,
        code: "too_many_requests",
        message: `${String(maxBidiClients)} WebDriver BiDi clients are already connected; close one first.`,
      };
    this.#server.handleUpgrade(request, socket, head, (client) => {
      const onGone = this.#options.onClient();
      this.#clients.add(client);
      client.on("error", () => undefined);
      client.on("close", () => {
        this.#clients.delete(client);
        onGone();
      });
      new MapperConnection(client, this.#options).begin().catch((error: unknown) => {
        client.close(1011, `the browser cannot be reached: ${messageOf(error)}`.slice(0, 120));
      });
    });
    return undefined;
  }

  get hasClients(): boolean {
    return this.#clients.size > 0;
  }

  /** Without a close frame when the reason is undefined. */
  closeAll(code: number, reason: string | undefined): void {
    for (const client of this.#clients) {
      if (reason === undefined) client.terminate();
      else client.close(code, reason);
    }
  }
}

class MapperConnection implements BidiMapper.BidiTransport {
  readonly #client: WebSocket;
  readonly #options: BidiGatewayOptions;
  readonly #session: BidiSession;
  readonly #pause: PausedCommands;
  readonly #closing: ClosingPages;
  /** Commands that arrive before the mapper is ready. */
  readonly #early: string[] = [];
  #isReady = false;
  #joining: PromiseWithResolvers<void> | undefined;
  #toMapper: (message: never) => unknown = () => undefined;

  constructor(client: WebSocket, options: BidiGatewayOptions) {
    this.#client = client;
    this.#options = options;
    this.#pause = new PausedCommands(options.pause);
    this.#closing = new ClosingPages(options.closing);
    this.#session = new BidiSession(() => {
      setImmediate(() => {
        client.close(1000, "session.end");
      });
    });
    client.on("message", (data: RawData, isBinary: boolean) => {
      if (isBinary) client.close(1003, "BiDi messages are text, not binary");
      else if (this.#isReady) this.#take(textOf(data));
      else this.#early.push(textOf(data));
    });
  }

  async begin(): Promise<void> {
    const downloads = new ClientDownloads(this.#options.root, this.#options.downloads);
    const browser = await this.#connectBrowser(downloads);
    const cdp = this.#mapperCdp(browser, downloads);
    const mapper = await BidiMapper.BidiServer.createAndStart(this, cdp, cdp.browser, "");
    this.#client.on("close", () => {
      mapper.close();
    });
    if (this.#options.hasDriver()) await this.#join();
    this.#isReady = true;
    for (const text of this.#early.splice(0)) this.#take(text);
  }

  /** The driver answers dialogs, so the mapper must not. */
  async #join(): Promise<void> {
    this.#joining = Promise.withResolvers<void>();
    const alwaysMatch = { unhandledPromptBehavior: { default: "ignore" } };
    const command = { id: joinId, method: "session.new", params: { capabilities: { alwaysMatch } } };
    this.#toMapper(command as never);
    await this.#joining.promise;
    this.#joining = undefined;
    this.#session.join();
  }

  setOnMessage(handler: (message: never) => unknown): void {
    this.#toMapper = handler;
  }

  sendMessage(message: object): void {
    if (this.#joining !== undefined && "id" in message && message.id === joinId) {
      this.#joining.resolve();
      return;
    }
    if (this.#client.readyState === WebSocket.OPEN) this.#client.send(JSON.stringify(this.#session.complete(message)));
  }

  close(): void {
    this.#client.close(1000);
  }

  async #connectBrowser(downloads: ClientDownloads): Promise<WebSocket> {
    const { port, path } = await this.#options.endpoint();
    const browser = new WebSocket(`ws://127.0.0.1:${String(port)}${path}`, {
      perMessageDeflate: false,
      maxPayload: 256 * 2 ** 20,
      handshakeTimeout: handshakeTimeoutMs,
    });
    browser.on("error", () => undefined);
    browser.on("close", () => {
      downloads.release();
    });
    this.#client.on("close", () => {
      if (browser.readyState === WebSocket.CONNECTING) browser.terminate();
      else
        void Promise.all([downloads.placed, this.#closing.leave()]).then(() => {
          browser.close();
        });
    });
    await new Promise<void>((resolve, reject) => {
      browser.once("open", resolve);
      browser.once("close", () => {
        reject(new Error("the browser closed the connection"));
      });
    });
    return browser;
  }

  #mapperCdp(browser: WebSocket, downloads: ClientDownloads): MapperCdp {
    const cdp = new MapperCdp({
      guard: createMapperGuard(
        createCdpGuard(this.#options.root, downloads, this.#options.openContextProxy, this.#closing),
        this.#options.pause,
      ),
      send(document) {
        browser.send(document);
      },
      onClose: () => {
        setTimeout(() => {
          this.#client.close(1000, "browser.close ends this connection, not the session");
        }, closeDelayMs);
      },
    });
    browser.on("message", (data: RawData) => {
      cdp.receive(textOf(data));
    });
    browser.on("close", () => {
      cdp.close();
      this.#client.close(1011, "the browser closed the connection");
    });
    return cdp;
  }

  #take(text: string): void {
    const command = parseCommand(text);
    if ("problem" in command) {
      const { id, problem } = command;
      this.#client.send(JSON.stringify({ type: "error", id, error: "invalid argument", message: problem }));
      return;
    }
    const refused = this.#pause.take(command.command, text.length, () => {
      this.#pass(command.command);
    });
    if (refused !== undefined) this.#client.send(JSON.stringify(refused));
  }

  #pass(command: BidiCommand): void {
    if (this.#client.readyState !== WebSocket.OPEN) return;
    const answer = this.#session.answer(command);
    if (answer !== undefined) this.#client.send(JSON.stringify(answer));
    // Its envelope is checked; the mapper answers the rest.
    else this.#toMapper(command as never);
  }
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString();
  return Buffer.isBuffer(data) ? data.toString() : Buffer.from(data).toString();
}

function parseCommand(
  text: string,
): { readonly command: BidiCommand } | { readonly id: number | null; readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { id: null, problem: "Invalid JSON." };
  }
  if (typeof value !== "object" || value === null) return { id: null, problem: "Expected an object." };
  const { id, method, params } = value as Readonly<Record<string, unknown>>;
  if (typeof id !== "number" || !Number.isInteger(id) || id < 0)
    return { id: null, problem: "id: expected an integer, 0 or above." };
  if (typeof method !== "string") return { id, problem: "method: expected a string." };
  if (typeof params !== "object" || params === null) return { id, problem: "params: expected an object." };
  return {
    command: {
      ...value,
      id,
      method,
      params,
      "goog:channel": (value as Readonly<Record<string, unknown>>)["goog:channel"],
    },
  };
}
