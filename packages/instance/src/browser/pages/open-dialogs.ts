import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { CdpConnection, DialogWatch } from "../cdp/pipe-connection.ts";

type Opening = Protocol.Page.JavascriptDialogOpeningEvent;

/**
 * Follows the dialogs of each tab from its creation. Chromium reports a dialog only to sessions that exist when it opens,
 * and only these can answer it. For a full Chromium: a headless shell closes the other dialogs at once.
 */
export async function followDialogs(cdp: CdpConnection): Promise<void> {
  // A separate session, so that other settings of automatic attachment stay unchanged.
  const { sessionId: browser } = await cdp.send("Target.attachToBrowserTarget");
  cdp.dialogs = new OpenDialogs(cdp, browser);
  await cdp.send(
    "Target.setAutoAttach",
    { autoAttach: true, waitForDebuggerOnStart: false, flatten: true, filter: [{ type: "page" }] },
    browser,
  );
}

class OpenDialogs implements DialogWatch {
  readonly #sessions = new Map<string, string>();
  readonly #dialogs = new Map<string, Opening>();

  constructor(cdp: CdpConnection, browser: string) {
    cdp.on("Target.attachedToTarget", ({ sessionId, targetInfo }, parent) => {
      if (parent !== browser) return;
      this.#sessions.set(targetInfo.targetId, sessionId);
      // Not awaited: a page with an open dialog never answers.
      cdp.send("Page.enable", undefined, sessionId).catch(() => undefined);
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

  #isOurs(sessionId: string): boolean {
    return [...this.#sessions.values()].includes(sessionId);
  }
}
