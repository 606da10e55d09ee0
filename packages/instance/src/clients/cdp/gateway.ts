import { messageOf } from "@shoal/primitives";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { BrowserEndpoint } from "../../browser/chromium/browser.ts";
import { ClientDownloads } from "../../browser/downloads/client-downloads.ts";
import type { CdpDeparture } from "../../browser/cdp/departure.ts";
import type { SessionDownloads } from "../../browser/downloads/session-downloads.ts";
import { acceptUpgrade, checkUpgrade } from "../../http/upgrade.ts";
import { connectBrowser } from "./browser-connection.ts";
import type { OpenContextProxy } from "../../egress/context-proxy.ts";
import { createCdpGuard } from "./guard.ts";
import { spliceCdp, type CdpSplice } from "./splice.ts";

export const maxCdpClients = 64;

export interface CdpGatewayOptions {
  /** Folder that API paths start from; `/` in a sandbox. */
  readonly root: string;
  readonly downloads: SessionDownloads;
  /** Returns where the browser listens, once it is ready; rejects with a readable message when it will not start. */
  endpoint(): Promise<BrowserEndpoint>;
  /** Called before a client is connected. Call the returned function when it has left or is being disconnected. */
  onClient(): (departure: CdpDeparture) => void;
  /** For browser contexts with a separate proxy. */
  openContextProxy?: OpenContextProxy;
  refuse(request: IncomingMessage, socket: Socket, refusal: UpgradeRefusal): void;
}

export interface UpgradeRefusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

export interface CdpGateway {
  /** Handles a `GET /cdp` with an `Upgrade` header. Never throws. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void;
  /** `reason`: at most 123 bytes; `undefined` sends no close frame. */
  closeAll(code: number, reason: string | undefined): void;
}

export function createCdpGateway(options: CdpGatewayOptions): CdpGateway {
  return new SpliceGateway(options);
}

class SpliceGateway implements CdpGateway {
  readonly #options: CdpGatewayOptions;
  readonly #connected = new Set<ConnectedClient>();
  /** Includes clients that are not connected yet. */
  #clientCount = 0;

  constructor(options: CdpGatewayOptions) {
    this.#options = options;
  }

  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on("error", () => undefined);
    const refusal = this.#refusalOf(request);
    if (refusal === undefined) void this.#join(request, socket, head);
    else this.#options.refuse(request, socket, refusal);
  }

  closeAll(code: number, reason: string | undefined): void {
    for (const client of this.#connected) {
      client.splice?.close(code, reason);
      client.leave();
    }
  }

  #refusalOf(request: IncomingMessage): UpgradeRefusal | undefined {
    const problem = checkUpgrade(request);
    if (problem !== undefined)
      return { status: 400, code: "bad_request", message: `Invalid WebSocket handshake: ${problem}.` };
    if (this.#clientCount < maxCdpClients) return undefined;
    return {
      status: 429,
      code: "too_many_requests",
      message: `${String(maxCdpClients)} CDP clients are already connected; close one first.`,
    };
  }

  async #join(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    this.#clientCount++;
    const client = new ConnectedClient(this.#options.onClient());
    socket.once("close", () => {
      this.#clientCount--;
      client.leave();
    });
    try {
      const browser = await connectBrowser(at(await this.#options.endpoint(), request), request);
      if (socket.destroyed) {
        browser.socket.destroy();
        return;
      }
      socket.setNoDelay(true);
      socket.write(acceptUpgrade(browser.accept));
      if (head.length > 0) socket.unshift(head);
      if (browser.rest.length > 0) browser.socket.unshift(browser.rest);
      client.splice = this.#splice(socket, browser.socket, () => this.#connected.delete(client));
      this.#connected.add(client);
    } catch (error) {
      this.#options.refuse(request, socket, {
        status: 503,
        code: "browser_not_running",
        message: `The browser cannot be reached: ${messageOf(error)}. Try again.`,
      });
    }
  }

  #splice(client: Socket, browser: Socket, onClosed: () => void): CdpSplice {
    const { root, openContextProxy } = this.#options;
    const downloads = new ClientDownloads(root, this.#options.downloads);
    browser.once("close", () => {
      downloads.release();
    });
    return spliceCdp({ client, browser, guard: createCdpGuard(root, downloads, openContextProxy), onClosed });
  }
}

class ConnectedClient {
  /** Absent until the browser has accepted the connection. */
  splice: CdpSplice | undefined;
  readonly #cameMs = performance.now();
  readonly #onGone: (departure: CdpDeparture) => void;
  #left = false;

  constructor(onGone: (departure: CdpDeparture) => void) {
    this.#onGone = onGone;
  }

  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#onGone({
      durationMs: performance.now() - this.#cameMs,
      messageCount: this.splice?.messageCount ?? 0,
      reason: this.splice?.reason ?? "client_close",
    });
  }
}

/** Routes a client's path: `/devtools/page/{id}` to one target, all others to the browser. */
function at(endpoint: BrowserEndpoint, { url = "" }: IncomingMessage): BrowserEndpoint {
  const page = /^\/devtools\/page\/\w+/.exec(url)?.[0];
  return page === undefined ? endpoint : { ...endpoint, path: page };
}
