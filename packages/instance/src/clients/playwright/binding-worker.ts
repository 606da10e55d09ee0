import { messageOf } from "@shoal/primitives";
import { type Browser, chromium } from "playwright-core";
import type { ContextProxy } from "../../egress/context-proxy.ts";
import { limitServerBrowser, refuseOtherServers, serverBrowserOf } from "./bound-browser.ts";
import type { AdmittedMessage, BindingMessage, CloseMessage, OpenMessage } from "./messages.ts";
import { connectSession } from "./session-transport.ts";
import { SocketLimits } from "./socket-limits.ts";
import { sendVideosTo } from "./video-worker.ts";

type Message = OpenMessage | CloseMessage | AdmittedMessage;

/** Serves Playwright's protocol to the clients of one session. Its messages come from the instance alone. */
export function runBinding(): void {
  const limits = new SocketLimits();
  limits.apply();
  const binding = new Binding(limits);
  sendVideosTo(() => binding.videos);
  // One client must not end the others.
  process.on("uncaughtException", () => undefined);
  process.on("disconnect", () => process.exit());
  process.on("message", (message: Message) => {
    if (message.type === "open") void binding.open(message);
    else if (message.type === "close") binding.close(message.id);
    else binding.admitted(message);
  });
  tell({ type: "ready" });
}

function tell(message: BindingMessage): void {
  if (process.connected) process.send?.(message);
}

class Binding {
  readonly #limits: SocketLimits;
  readonly #clients = new Map<number, Promise<Browser>>();
  readonly #asks = new Map<number, PromiseWithResolvers<number>>();
  #asked = 0;
  /** Address of the instance for all clients. */
  videos: string | undefined;

  constructor(limits: SocketLimits) {
    this.#limits = limits;
  }

  async open(message: OpenMessage): Promise<void> {
    const { id } = message;
    this.videos = message.videos;
    const browser = this.#connect(message);
    this.#clients.set(id, browser);
    try {
      const bound = await browser;
      const server = serverBrowserOf(bound);
      const hasVideos = message.videos !== undefined;
      limitServerBrowser(server, { exitPort: message.exitPort, hasVideos, admit: (proxy) => this.#admit(proxy) });
      const { endpoint } = await bound.bind("session", { host: "127.0.0.1", port: 0 });
      refuseOtherServers(server);
      const { pathname, port } = new URL(endpoint);
      tell({ type: "opened", id, port: Number(port), path: pathname });
    } catch (error) {
      this.close(id);
      tell({ type: "failed", id, message: messageOf(error) });
    }
  }

  close(id: number): void {
    const browser = this.#clients.get(id);
    this.#clients.delete(id);
    browser?.then((bound) => bound.close()).catch(() => undefined);
  }

  admitted({ ask, port, refusal }: AdmittedMessage): void {
    const waiting = this.#asks.get(ask);
    this.#asks.delete(ask);
    if (port === undefined) {
      waiting?.reject(new Error(refusal));
      return;
    }
    this.#limits.allow(port);
    waiting?.resolve(port);
  }

  async #connect({ cdp, exitPort, folder, root }: OpenMessage): Promise<Browser> {
    this.#limits.allow(Number(new URL(cdp).port));
    this.#limits.allow(exitPort);
    return chromium.connectOverCDP(await connectSession(cdp, root), { artifactsDir: folder });
  }

  #admit(proxy: ContextProxy | undefined): Promise<number> {
    this.#asked += 1;
    const waiting = Promise.withResolvers<number>();
    this.#asks.set(this.#asked, waiting);
    tell({ type: "admit", ask: this.#asked, proxy });
    return waiting.promise;
  }
}
