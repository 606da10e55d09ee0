import { messageOf } from "@shoal/primitives";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { BrowserEndpoint } from "../../browser/chromium/browser.ts";
import { relaunchCloseCode } from "../../browser/chromium/supervisor.ts";
import { ClientDownloads } from "../../browser/downloads/client-downloads.ts";
import type { CdpDeparture } from "../../browser/cdp/departure.ts";
import type { SessionDownloads } from "../../browser/downloads/session-downloads.ts";
import { acceptUpgrade, checkUpgrade } from "../../http/upgrade.ts";
import { connectBrowser } from "./browser-connection.ts";
import { ClosingPages, type ClosingPagesOptions } from "./closing-pages.ts";
import type { OpenContextProxy } from "../../egress/context-proxy.ts";
import type { AutomationPause } from "../../pause/automation-pause.ts";
import { EarlyTraffic } from "./early-traffic.ts";
import { advice, FullBrowser, type FullBrowserOptions, fullMethod, refuseCommand } from "./full-browser.ts";
import { createCdpGuard } from "./guard.ts";
import { createPausingGuard } from "./pausing-guard.ts";
import { replay } from "./replay.ts";
import { spliceCdp } from "./splice.ts";
import type { CdpSplice, NewBrowser } from "./splice-options.ts";

export const maxCdpClients = 64;

export interface CdpGatewayOptions {
  /** Folder that API paths start from; `/` in a sandbox. */
  readonly root: string;
  readonly downloads: SessionDownloads;
  /** Returns where the browser listens, once it is ready; rejects with a readable message when it will not start. */
  endpoint(): Promise<BrowserEndpoint>;
  /** Called before a client is connected. */
  onClient(): readonly (FollowedClient | undefined)[];
  /** For browser contexts with a separate proxy. */
  openContextProxy?: OpenContextProxy;
  /** For clients that need a full Chromium. Absent, the browser is never replaced. */
  full?: FullBrowserOptions;
  /** While a person controls the session. */
  readonly pause: AutomationPause;
  refuse(request: IncomingMessage, socket: Socket, refusal: UpgradeRefusal): void;
}

export interface FollowedClient {
  /** Called with each message that is small enough to be inspected, when it is sent to the browser. */
  readonly sent?: (message: Buffer) => void;
  /** Called when the client has left or is being disconnected. */
  readonly left: (departure: CdpDeparture) => void;
}

export interface UpgradeRefusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

export class CdpGateway {
  readonly #options: CdpGatewayOptions;
  readonly #connected = new Set<ConnectedClient>();
  readonly #full: FullBrowser | undefined;
  #closing: ClosingPagesOptions | undefined;
  #replacing: Promise<string | undefined> | undefined;
  /** Includes clients that are not connected yet. */
  #clientCount = 0;

  constructor(options: CdpGatewayOptions) {
    this.#options = options;
    this.#full = options.full && new FullBrowser(options.full);
  }

  /** Call it before clients connect. Without it, pages close at once. */
  followClosing(options: ClosingPagesOptions): void {
    this.#closing = options;
  }

  /** Handles a `GET /cdp` with an `Upgrade` header. Never throws. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on("error", () => undefined);
    const refusal = this.#refusalOf(request);
    if (refusal === undefined) void this.#join(request, socket, head);
    else this.#options.refuse(request, socket, refusal);
  }

  /** `reason`: at most 123 bytes; `undefined` sends no close frame. */
  closeAll(code: number, reason: string | undefined): void {
    for (const client of this.#connected) {
      // It follows the browser to its replacement.
      if (client.isHeld && code === relaunchCloseCode) continue;
      client.splice?.close(code, reason);
      client.leave();
    }
  }

  get clients(): number {
    return this.#clientCount;
  }

  /** Whether no client waits for the browser, or the reverse. */
  get isQuiet(): boolean {
    const connected = [...this.#connected];
    return (
      this.#replacing === undefined &&
      connected.length === this.#clientCount &&
      connected.every(({ splice }) => splice?.isQuiet === true)
    );
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
      await this.#replacing;
      const browser = await connectBrowser(at(await this.#options.endpoint(), request), request);
      if (socket.destroyed) {
        browser.socket.destroy();
        return;
      }
      socket.setNoDelay(true);
      socket.write(acceptUpgrade(browser.accept));
      if (head.length > 0) socket.unshift(head);
      if (browser.rest.length > 0) browser.socket.unshift(browser.rest);
      client.request = request;
      client.splice = this.#splice(socket, browser.socket, client);
      this.#connected.add(client);
    } catch (error) {
      this.#options.refuse(request, socket, {
        status: 503,
        code: "browser_not_running",
        message: `The browser cannot be reached: ${messageOf(error)}. Try again.`,
      });
    }
  }

  #splice(client: Socket, browser: Socket, connected: ConnectedClient): CdpSplice {
    const early = new EarlyTraffic();
    if (this.#full?.isNeeded !== true) early.end();
    return spliceCdp({
      client,
      browser,
      ...this.#guard(browser),
      early,
      // A handoff also delays the replacement of the browser.
      prepare: (message) => (this.#options.pause.isActive ? undefined : this.#prepare(message)),
      mustInspect: () => this.#options.pause.isActive,
      onSent: (message) => {
        for (const one of connected.followed) one?.sent?.(message);
      },
      onClosed: () => this.#connected.delete(connected),
    });
  }

  #guard(browser: Socket): Pick<NewBrowser, "beforeLeaving" | "guard"> {
    const { root, openContextProxy, pause } = this.#options;
    const downloads = new ClientDownloads(root, this.#options.downloads);
    const closing = new ClosingPages(this.#closing);
    browser.once("close", () => {
      downloads.release();
    });
    return {
      guard: createPausingGuard(createCdpGuard(root, downloads, openContextProxy, closing), pause),
      beforeLeaving() {
        const closed = closing.leave();
        return closed === undefined ? downloads.placed : Promise.all([closed, downloads.placed]).then(() => undefined);
      },
    };
  }

  /** Answers with an error if the command needs a full Chromium and the session cannot have one. */
  #prepare(message: Buffer): Promise<string | undefined> | undefined {
    if (this.#full?.isNeeded !== true) return undefined;
    const method = fullMethod(message);
    if (method === undefined) return undefined;
    this.#replacing ??= this.#replace(this.#full).finally(() => {
      this.#replacing = undefined;
    });
    return this.#replacing.then((reason) =>
      reason === undefined ? undefined : refuseCommand(message, method, reason),
    );
  }

  /** @returns why the session keeps its headless shell. */
  async #replace(full: FullBrowser): Promise<string | undefined> {
    const clients = [...this.#connected];
    const obstacle = clients.some(({ splice, request }) => splice?.early.isOver !== false || isPage(request))
      ? `its clients have opened pages; ${advice}`
      : await full.obstacle();
    if (obstacle !== undefined) return obstacle;
    if (!clients.every(({ splice }) => splice?.atBoundary)) return "the browser is sending a message; try again";
    for (const client of clients) client.hold();
    try {
      const targets = await full.start();
      await Promise.all(clients.map((client) => this.#move(client, targets)));
      return undefined;
    } catch (error) {
      for (const client of clients) client.splice?.close(1012, "the browser was started in another way: reconnect");
      return messageOf(error);
    } finally {
      for (const client of clients) client.release();
    }
  }

  async #move({ request, splice }: ConnectedClient, targets: ReadonlyMap<string, string>): Promise<void> {
    if (splice === undefined || request === undefined) return;
    const { rest, socket } = await connectBrowser(await this.#options.endpoint(), request);
    if (rest.length > 0) socket.unshift(rest);
    const { beforeLeaving, guard } = this.#guard(socket);
    const { early } = splice;
    const tell = (text: string): void => {
      splice.tell(text);
    };
    const translation = await replay({ early, browser: socket, guard, targets, tell });
    splice.adopt({ socket, guard, beforeLeaving, translation });
  }
}

class ConnectedClient {
  /** Absent until the browser has accepted the connection. */
  splice: CdpSplice | undefined;
  request: IncomingMessage | undefined;
  /** Its browser is being replaced. */
  isHeld = false;
  readonly #cameMs = performance.now();
  readonly followed: ReturnType<CdpGatewayOptions["onClient"]>;
  #left = false;

  constructor(followed: ReturnType<CdpGatewayOptions["onClient"]>) {
    this.followed = followed;
  }

  hold(): void {
    this.isHeld = true;
    this.splice?.hold();
    this.splice?.leaveBrowser();
  }

  release(): void {
    this.isHeld = false;
    this.splice?.release();
  }

  leave(): void {
    if (this.#left) return;
    this.#left = true;
    const departure = {
      durationMs: performance.now() - this.#cameMs,
      ...(this.splice?.counts ?? { messageCount: 0, unreadCount: 0 }),
      reason: this.splice?.reason ?? "client_close",
    };
    for (const one of this.followed) one?.left(departure);
  }
}

function isPage(request: IncomingMessage | undefined): boolean {
  return request?.url?.startsWith("/devtools/page/") === true;
}

/** Routes a client's path: `/devtools/page/{id}` to one target, all others to the browser. */
function at(endpoint: BrowserEndpoint, { url = "" }: IncomingMessage): BrowserEndpoint {
  const page = /^\/devtools\/page\/\w+/.exec(url)?.[0];
  return page === undefined ? endpoint : { ...endpoint, path: page };
}
