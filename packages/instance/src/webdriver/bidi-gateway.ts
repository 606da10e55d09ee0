import { BidiMapper } from "chromium-bidi";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type RawData, WebSocket, WebSocketServer } from "ws";
import type { OpenContextProxy } from "../cdp/context-proxy.ts";
import { createCdpGuard } from "../cdp/guard.ts";
import type { BrowserEndpoint } from "../chromium/browser.ts";
import { ClientDownloads } from "../downloads/client-downloads.ts";
import type { SessionDownloads } from "../downloads/session-downloads.ts";
import { type BidiCommand, BidiSession } from "./bidi-session.ts";
import { createMapperCdp } from "./cdp-adapter.ts";

/** Clients that may be connected at once: each has a mapper of its own. */
export const maxBidiClients = 16;
/** Largest message, in bytes. */
const maxMessageBytes = 64 * 2 ** 20;
const handshakeTimeoutMs = 10_000;
/** Time for the answer to `browser.close` to be written. */
const closeDelayMs = 100;

export interface BidiGateway {
  /** Takes an upgrade to `/webdriver`. @returns why not. */
  upgrade(
    request: IncomingMessage,
    socket: Socket,
    head: Buffer,
  ): { readonly status: number; readonly code: string; readonly message: string } | undefined;
  /** Ends every client; without a close frame when there is no reason. */
  closeAll(code: number, reason: string | undefined): void;
}

export interface BidiGatewayOptions {
  /** What API paths start from, `/` in a box. */
  readonly root: string;
  readonly downloads: SessionDownloads;
  endpoint(): Promise<BrowserEndpoint>;
  /** For user contexts with their own proxy. */
  openContextProxy?: OpenContextProxy;
  /** Called when a client comes; the function that it returns, when it is gone. */
  onClient(): () => void;
}

/** Speaks WebDriver BiDi with clients and CDP with the browser: a mapper and a CDP connection for each client, so that nothing of one is left when it goes. */
export function createBidiGateway(options: BidiGatewayOptions): BidiGateway {
  const server = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, perMessageDeflate: false });
  const clients = new Set<WebSocket>();

  async function serve(client: WebSocket): Promise<void> {
    const session = new BidiSession(() => {
      setImmediate(() => {
        client.close(1000, "session.end");
      });
    });
    const waiting: string[] = [];
    let onCommand: (text: string) => void = (text) => waiting.push(text);
    client.on("message", (data: RawData, isBinary: boolean) => {
      if (isBinary) client.close(1003, "BiDi messages are text, not binary");
      else onCommand(textOf(data));
    });
    const { port, path } = await options.endpoint();
    const browser = new WebSocket(`ws://127.0.0.1:${String(port)}${path}`, {
      perMessageDeflate: false,
      maxPayload: 256 * 2 ** 20,
      handshakeTimeout: handshakeTimeoutMs,
    });
    const downloads = new ClientDownloads(options.root, options.downloads);
    browser.on("error", () => undefined);
    browser.on("close", () => {
      downloads.release();
    });
    client.on("close", () => {
      if (browser.readyState === WebSocket.CONNECTING) browser.terminate();
      else browser.close();
    });
    await new Promise<void>((resolve, reject) => {
      browser.once("open", resolve);
      browser.once("close", () => {
        reject(new Error("the browser closed the connection"));
      });
    });
    const cdp = createMapperCdp({
      guard: createCdpGuard(options.root, downloads, options.openContextProxy),
      send(document) {
        browser.send(document);
      },
      onClose() {
        setTimeout(() => {
          client.close(1000, "browser.close ends this connection, not the session");
        }, closeDelayMs);
      },
    });
    browser.on("message", (data: RawData) => {
      cdp.receive(textOf(data));
    });
    browser.on("close", () => {
      cdp.close();
      client.close(1011, "the browser closed the connection");
    });
    let toMapper: (message: never) => unknown = () => undefined;
    const transport: BidiMapper.BidiTransport = {
      setOnMessage(handler) {
        toMapper = handler;
      },
      sendMessage(message) {
        if (client.readyState === WebSocket.OPEN) client.send(JSON.stringify(session.complete(message)));
      },
      close() {
        client.close(1000);
      },
    };
    const mapper = await BidiMapper.BidiServer.createAndStart(transport, cdp, cdp.browser, "");
    client.on("close", () => {
      mapper.close();
    });
    onCommand = (text) => {
      const command = parseCommand(text);
      if ("problem" in command) {
        client.send(JSON.stringify({ type: "error", id: command.id, error: "invalid argument", message: command.problem }));
        return;
      }
      const answer = session.answer(command.command);
      if (answer !== undefined) client.send(JSON.stringify(answer));
      // Checked as far as the mapper needs it to answer the rest.
      else toMapper(command.command as never);
    };
    for (const text of waiting.splice(0)) onCommand(text);
  }

  return {
    upgrade(request, socket, head) {
      if (clients.size >= maxBidiClients)
        return {
          status: 429,
          code: "too_many_requests",
          message: `${String(maxBidiClients)} WebDriver BiDi clients are connected already; close one first.`,
        };
      server.handleUpgrade(request, socket, head, (client) => {
        const onGone = options.onClient();
        clients.add(client);
        client.on("error", () => undefined);
        client.on("close", () => {
          clients.delete(client);
          onGone();
        });
        serve(client).catch((error: unknown) => {
          client.close(1011, `the browser cannot be reached: ${error instanceof Error ? error.message : String(error)}`.slice(0, 120));
        });
      });
      return undefined;
    },
    closeAll(code, reason) {
      for (const client of clients) {
        if (reason === undefined) client.terminate();
        else client.close(code, reason);
      }
    },
  };
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString();
  return Buffer.isBuffer(data) ? data.toString() : Buffer.from(data).toString();
}

function parseCommand(text: string): { readonly command: BidiCommand } | { readonly id: number | null; readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { id: null, problem: "This is not JSON." };
  }
  if (typeof value !== "object" || value === null) return { id: null, problem: "A command is an object." };
  const { id, method, params } = value as Readonly<Record<string, unknown>>;
  if (typeof id !== "number" || !Number.isInteger(id) || id < 0) return { id: null, problem: "id: expected a whole number, 0 or above." };
  if (typeof method !== "string") return { id, problem: "method: expected a text." };
  if (typeof params !== "object" || params === null) return { id, problem: "params: expected an object." };
  return { command: { ...value, id, method, params, "goog:channel": (value as Readonly<Record<string, unknown>>)["goog:channel"] } };
}
