import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { CdpGateway } from "../cdp/gateway.ts";
import { log } from "../log.ts";
import type { Activity } from "./activity.ts";
import type { Parts } from "./parts.ts";
import { pathOf, refuseUpgrade, type Refusal } from "./replies.ts";

interface UpgradeOptions {
  readonly gateway: CdpGateway;
  readonly activity: Activity;
  readonly parts: Pick<Parts, "bidi" | "liveView" | "operations">;
  readonly isEnding: () => boolean;
}

/** Answers requests for a WebSocket; never throws. */
export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** The WebSockets of an instance: CDP, terminals, WebDriver BiDi and the live view. */
export function createUpgrades({ gateway, activity, parts, isEnding }: UpgradeOptions): UpgradeListener {
  /** @param what - begins the line of the log where it fails. */
  async function join(what: string, request: IncomingMessage, socket: Socket, upgrade: () => Promise<Refusal | undefined>): Promise<void> {
    try {
      const refusal = await upgrade();
      if (refusal !== undefined) refuseUpgrade(request, socket, refusal);
    } catch (error) {
      log("error", `${what} could not be loaded`, { error: String(error) });
      socket.destroy();
    }
  }

  return (request, socket, head) => {
    // node:http hands over the connection itself, typed more widely than it is.
    if (!(socket instanceof Socket)) {
      socket.destroy();
      return;
    }
    socket.on("error", () => undefined);
    const path = pathOf(request);
    if (isEnding()) refuseUpgrade(request, socket, { status: 503, code: "shutting_down", message: "This instance is ending." });
    else if (path === "/cdp" || path.startsWith("/devtools/")) gateway.upgrade(request, socket, head);
    else if (path.startsWith("/process/")) {
      socket.on("close", activity.begin());
      void join("terminals", request, socket, async () => {
        const [{ processes }, { attachTo }] = await Promise.all([parts.operations.load(), import("../process/attach.ts")]);
        return attachTo(request, socket, head, { path, processes });
      });
    } else if (path === "/webdriver")
      void join("WebDriver BiDi", request, socket, async () => (await parts.bidi.load()).upgrade(request, socket, head));
    else if (path === "/live-view")
      void join("the live view", request, socket, async () => (await parts.liveView.load()).upgrade(request, socket, head));
    else refuseUpgrade(request, socket, { status: 404, code: "not_found", message: `There is no WebSocket at ${path.slice(0, 200)}.` });
  };
}
