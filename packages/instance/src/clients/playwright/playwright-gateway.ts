import { messageOf } from "@shoal/primitives";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";
import type { ContextProxy, OpenContextProxy } from "../../egress/context-proxy.ts";
import type { Refusal } from "../../http/replies.ts";
import { acceptUpgrade, checkUpgrade } from "../../http/upgrade.ts";
import type { AutomationPause } from "../../pause/automation-pause.ts";
import { connectBrowser } from "../cdp/browser-connection.ts";
import type { BindingProcessOptions } from "./binding-process.ts";
import { type BindingRunOptions, BindingRun } from "./binding-run.ts";

/** Each client has a separate connection to the browser, in one process. */
export const maxPlaywrightClients = 16;

export interface PlaywrightGatewayOptions
  extends Pick<BindingProcessOptions, "program" | "cacheDir">, Pick<BindingRunOptions, "cdp" | "exitPort" | "root"> {
  /** API path. */
  readonly home: string;
  readonly openContextProxy: OpenContextProxy;
  /** While a person controls the session. */
  readonly pause: Pick<AutomationPause, "admit">;
  /** A client keeps the session awake: its timers run in the session. */
  onClient(): () => void;
}

/** Serves Playwright's own protocol. Bytes of clients are for a separate process, which ends with its last client. */
export class PlaywrightGateway {
  readonly #options: PlaywrightGatewayOptions;
  readonly #clients = new Set<Socket>();
  #run: BindingRun | undefined;
  #runs = 0;

  constructor(options: PlaywrightGatewayOptions) {
    this.#options = options;
  }

  async upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<Refusal | undefined> {
    const problem = checkUpgrade(request);
    if (problem !== undefined)
      return { status: 400, code: "bad_request", message: `Invalid WebSocket handshake: ${problem}.` };
    if (this.#clients.size >= maxPlaywrightClients)
      return {
        status: 429,
        code: "too_many_requests",
        message: `${String(maxPlaywrightClients)} Playwright clients are already connected; close one first.`,
      };
    const onGone = this.#options.onClient();
    this.#clients.add(socket);
    socket.once("close", () => {
      this.#clients.delete(socket);
      onGone();
    });
    try {
      const bound = await connectBrowser(await this.#currentRun().open(socket), request);
      if (socket.destroyed) {
        bound.socket.destroy();
        return undefined;
      }
      socket.setNoDelay(true);
      socket.write(acceptUpgrade(bound.accept));
      if (head.length > 0) socket.unshift(head);
      if (bound.rest.length > 0) bound.socket.unshift(bound.rest);
      splice(socket, bound.socket);
      return undefined;
    } catch (error) {
      return {
        status: 503,
        code: "browser_not_running",
        message: `The browser cannot be reached: ${messageOf(error)}. Try again.`,
      };
    }
  }

  /** Without close frames: the service knows why the session ends. */
  closeAll(): void {
    for (const socket of this.#clients) socket.destroy();
  }

  #currentRun(): BindingRun {
    if (this.#run?.isOver === false) return this.#run;
    this.#runs += 1;
    const { root, home } = this.#options;
    this.#run = new BindingRun({
      ...this.#options,
      // A new one: the folder of the last run may still be being removed.
      folder: join(root, home, `.playwright-connections-${String(this.#runs)}`),
      videoFolder: join(root, home, `.playwright-videos-${String(this.#runs)}`),
      admit: (proxy) => this.#admit(proxy),
    });
    return this.#run;
  }

  async #admit(proxy: ContextProxy | undefined): Promise<{ readonly port?: number; readonly refusal?: string }> {
    const { exitPort, openContextProxy, pause } = this.#options;
    const refused = await pause.admit();
    if (refused !== undefined) return { refusal: refused.message };
    try {
      return { port: proxy === undefined ? exitPort : await openContextProxy(proxy) };
    } catch (error) {
      return { refusal: messageOf(error) };
    }
  }
}

function splice(client: Socket, bound: Socket): void {
  client.pipe(bound);
  bound.pipe(client);
  client.on("close", () => bound.destroy());
  bound.on("close", () => client.destroy());
  // The error of a connection precedes its close.
  for (const socket of [client, bound]) socket.on("error", () => undefined);
}
