import { messageOf } from "@shoal/primitives";
import pTimeout from "p-timeout";
import { log } from "../../system/log.ts";
import type { CdpConnection } from "../cdp/cdp-connection.ts";
import { attachToPage } from "../pages/visible-page.ts";
import type { SavedTab } from "./saved-tab.ts";
import { TabOpener } from "./tab-opener.ts";

/** For the histories of all tabs, and then for their pages. */
const stepTimeoutMs = 10_000;

/**
 * Makes tabs with their histories and storage, without requests to sites.
 * @returns loads the present page of each tab, fills its fields and scrolls. Pages that take too long stay as they are.
 */
export async function prepareTabs(cdp: CdpConnection, tabs: readonly SavedTab[]): Promise<() => Promise<void>> {
  const { targetInfos } = await cdp.send("Target.getTargets", { filter: [{ type: "page" }] });
  const openers: TabOpener[] = [];
  for (const [place, tab] of tabs.entries()) {
    const first = place === 0 ? targetInfos[0]?.targetId : undefined;
    const targetId = first ?? (await cdp.send("Target.createTarget", { url: "about:blank" })).targetId;
    openers.push(new TabOpener(cdp, await attachToPage(cdp, targetId), tab));
  }
  await inTime(openers, (opener) => opener.prepare());
  return async () => {
    try {
      await inTime(openers, (opener) => opener.load());
      const front = openers[tabs.findIndex(({ in_front: inFront }) => inFront)];
      // A headless shell has a window for each tab.
      if (front !== undefined && cdp.pageOrder === undefined)
        await cdp.send("Target.activateTarget", { targetId: front.targetId });
    } finally {
      await Promise.all(openers.map((opener) => opener.close()));
    }
  };
}

async function inTime(openers: readonly TabOpener[], step: (opener: TabOpener) => Promise<void>): Promise<void> {
  await Promise.all(
    openers.map((opener) =>
      pTimeout(step(opener), { milliseconds: stepTimeoutMs }).catch((error: unknown) => {
        log("warn", "a tab could not be opened again as it was", { error: messageOf(error) });
      }),
    ),
  );
}
