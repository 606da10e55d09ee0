import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { CdpConnection, DialogWatch } from "../cdp/cdp-connection.ts";

type Opening = Protocol.Page.JavascriptDialogOpeningEvent;

/**
 * Follows the dialogs of each tab from its creation. Chromium reports a dialog only to sessions that exist when it opens,
 * and only these can answer it. For a full Chromium: a headless shell closes the other dialogs at once.
 */
export async function followDialogs(cdp: CdpConnection): Promise<void> {
  // A separate session, so that other settings of targets stay unchanged.
  const { sessionId: browser } = await cdp.send("Target.attachToBrowserTarget");
  cdp.dialogs = new OpenDialogs(cdp, browser);
  await cdp.send("Target.setDiscoverTargets", { discover: true, filter: [{ type: "page" }] }, browser);
}

class OpenDialogs implements DialogWatch {
  readonly #sessions = new Map<string, string>();
  readonly #dialogs = new Map<string, Opening>();

  constructor(cdp: CdpConnection, browser: string) {
    // Automatic attachment would stop pages whose popups open and close quickly.
    cdp.on("Target.targetCreated", ({ targetInfo: { targetId } }, from) => {
      if (from === browser) void this.#attach(cdp, targetId, browser);
    });
    cdp.on("Target.detachedFromTarget", ({ sessionId }, parent) => {
      if (parent !== browser) return;
      this.#dialogs.delete(sessionId);
      for (const [targetId, known] of this.#sessions) if (known === sessionId) this.#sessions.delete(targetId);
    });
    cdp.on("Page.javascriptDialogOpening", (event, sessionId) => {
      if (sessionId !== undefined && this.#isOurs(sessionId)) this.#dialogs.set(sessionId, event);
    });
    cdp.on("Page.javascriptDialogClosed", (_event, sessionId) => {
      if (sessionId !== undefined) this.#dialogs.delete(sessionId);
    });
  }

  sessionOf(targetId: string): string | undefined {
    return this.#sessions.get(targetId);
  }

  openOn(targetId: string): Opening | undefined {
    const sessionId = this.#sessions.get(targetId);
    return sessionId === undefined ? undefined : this.#dialogs.get(sessionId);
  }

  async #attach(cdp: CdpConnection, targetId: string, browser: string): Promise<void> {
    try {
      const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true }, browser);
      this.#sessions.set(targetId, sessionId);
      // Not answered while a dialog is open.
      await cdp.send("Page.enable", undefined, sessionId);
    } catch {
      // The page is closed.
    }
  }

  #isOurs(sessionId: string): boolean {
    return [...this.#sessions.values()].includes(sessionId);
  }
}
