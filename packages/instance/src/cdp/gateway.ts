import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { BrowserEndpoint } from "../chromium/browser.ts";
import { ClientDownloads } from "../downloads/client-downloads.ts";
import type { SessionDownloads } from "../downloads/session-downloads.ts";
import { acceptUpgrade, checkUpgrade, connectBrowser } from "./handshake.ts";
import type { OpenContextProxy } from "./context-proxy.ts";
import { createCdpGuard } from "./guard.ts";
import { spliceCdp, type CdpDepartureReason, type CdpSplice } from "./splice.ts";

/** Clients that may be connected at once. */
export const maxCdpClients = 64;

export interface CdpGatewayOptions {
  /** What API paths start from, `/` in a box. */
  readonly root: string;
  readonly downloads: SessionDownloads;
  /** Where the browser listens, once it is ready; rejects with a message for people when there will be none. */
  endpoint(): Promise<BrowserEndpoint>;
  /** Called when a client comes, before it is connected; the function that it returns is called when that client is gone or told to go. */
  onClient(): (departure: CdpDeparture) => void;
  /** For browser contexts with their own proxy. */
  openContextProxy?: OpenContextProxy;
  /** Refuses an upgrade with an error body. */
  refuse(request: IncomingMessage, socket: Socket, refusal: UpgradeRefusal): void;
}

/** How a client left. */
export interface CdpDeparture {
  readonly durationMs: number;
  /** Messages in both directions. */
  readonly messageCount: number;
  readonly reason: CdpDepartureReason;
}

export interface UpgradeRefusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

export interface CdpGateway {
  /** Takes a `GET /cdp` with an `Upgrade` header. Never throws. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void;
  /** Ends every client with a close code and a reason of at most 123 bytes; without a close frame when there is no reason. */
  closeAll(code: number, reason: string | undefined): void;
}

/** Joins WebSocket clients with the browser's own CDP endpoint, frame by frame as they are. */
export function createCdpGateway(options: CdpGatewayOptions): CdpGateway {
  const splices = new Map<CdpSplice, () => void>();
  let clients = 0;

  async function join(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    const problem = checkUpgrade(request);
    if (problem !== undefined) {
      options.refuse(request, client, { status: 400, code: "bad_request", message: `This is no WebSocket handshake: ${problem}.` });
      return;
    }
    if (clients >= maxCdpClients) {
      options.refuse(request, client, {
        status: 429,
        code: "too_many_requests",
        message: `${String(maxCdpClients)} CDP clients are connected already; close one first.`,
      });
      return;
    }
    clients++;
    const cameMs = performance.now();
    const onGone = options.onClient();
    let splice: CdpSplice | undefined;
    let left = false;
    function leave(): void {
      if (left) return;
      left = true;
      onGone({ durationMs: performance.now() - cameMs, messageCount: splice?.messageCount ?? 0, reason: splice?.reason ?? "client_close" });
    }
    client.once("close", () => {
      clients--;
      leave();
    });
    try {
      const { socket, rest, accept } = await connectBrowser(at(await options.endpoint(), request), request);
      if (client.destroyed) {
        socket.destroy();
        return;
      }
      client.setNoDelay(true);
      client.write(acceptUpgrade(accept));
      if (head.length > 0) client.unshift(head);
      if (rest.length > 0) socket.unshift(rest);
      const downloads = new ClientDownloads(options.root, options.downloads);
      socket.once("close", () => {
        downloads.release();
      });
      splice = spliceCdp({
        client,
        browser: socket,
        guard: createCdpGuard(options.root, downloads, options.openContextProxy),
        onClosed() {
          if (splice !== undefined) splices.delete(splice);
        },
      });
      splices.set(splice, leave);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      options.refuse(request, client, { status: 503, code: "browser_not_running", message: `The browser cannot be reached: ${reason}. Try again.` });
    }
  }

  return {
    upgrade(request, socket, head) {
      socket.on("error", () => undefined);
      void join(request, socket, head);
    },
    closeAll(code, reason) {
      for (const [splice, leave] of splices) {
        splice.close(code, reason);
        leave();
      }
    },
  };
}

/** Where a client's own address leads: `/devtools/page/{id}` to one target, everything else to the browser. */
function at(endpoint: BrowserEndpoint, { url = "" }: IncomingMessage): BrowserEndpoint {
  const page = /^\/devtools\/page\/\w+/.exec(url)?.[0];
  return page === undefined ? endpoint : { ...endpoint, path: page };
}
